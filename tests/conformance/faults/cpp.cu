__device__ int ping(int n);
__device__ __noinline__ int pong(int n) { return ping(n + 1) * 2; }
__device__ __noinline__ int ping(int n) { return n % 3 ? pong(n) : pong(n + 2) + 1; }

template <int N>
__device__ int rows(int width) {
    kernelmill_static_assert(N % 4 == 0, "rows come in fours");
    kernelmill_static_assert(width > 0);
    return width / N;
}

__global__ void played(int *x, int width) {
    x[threadIdx.x] = ping(x[0]) + rows<6>(width) + rows<8>(16);
}
