// examples/reduce/kernels/reduce.rs in CUDA C++.
constexpr unsigned BLOCK = 256;

extern "C" __global__ void reduce(const float *__restrict__ x, size_t x_len, float *sums, size_t sums_len) {
    __shared__ float tile[BLOCK];
    unsigned block = blockIdx.x, t = threadIdx.x;
    size_t stride = (size_t)gridDim.x * BLOCK;
    float sum = 0.0f;
    for (size_t i = (size_t)block * BLOCK + t; i < x_len; i += stride) sum += x[i];
    tile[t] = sum;
    __syncthreads();
    for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t == 0 && block < sums_len) sums[block] = tile[0];
}
