// Sums 256 values a block through shared memory.
extern "C" __global__ void block_sum(const float* in, float* out, unsigned n) {
    __shared__ float tile[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    tile[t] = i < n ? in[i] : 0.f;
    __syncthreads();
#pragma unroll 1
    for (unsigned s = 128; s; s >>= 1) {
        if (t < s) tile[t] += tile[t + s];
        __syncthreads();
    }
    if (!t) out[blockIdx.x] = tile[0];
}
