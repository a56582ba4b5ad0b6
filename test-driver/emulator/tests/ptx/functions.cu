// Calls: recursive, and through a table of functions.
__device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
extern "C" __global__ void recursive(int* out) { out[threadIdx.x] = ackermann(2, threadIdx.x); }

typedef float (*Unary)(float);
__device__ float increment(float x) { return x + 1; }
__device__ float square(float x) { return x * x; }
__device__ float negate(float x) { return -x; }
__device__ Unary table[3] = {increment, square, negate};
extern "C" __global__ void indirect(const float* in, float* out) {
    int i = threadIdx.x;
    out[i] = table[i % 3](in[i]);
}
