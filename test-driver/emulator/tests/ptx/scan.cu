// Inclusive sums of 256 values a block, between two buffers.
extern "C" __global__ void scan(const unsigned* in, unsigned* out) {
    __shared__ unsigned a[256], b[256];
    unsigned t = threadIdx.x;
    unsigned *x = a, *y = b;
    x[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
#pragma unroll 1
    for (unsigned d = 1; d < 256; d <<= 1) {
        y[t] = t >= d ? x[t] + x[t - d] : x[t];
        __syncthreads();
        unsigned* s = x;
        x = y;
        y = s;
    }
    out[blockIdx.x * 256 + t] = x[t];
}
