// The kernel `histogram` of tests/conformance/kernels/atomics.rs in CUDA C++.
extern "C" __global__ void histogram(const unsigned *__restrict__ x, size_t x_len, unsigned *bins, size_t bins_len) {
    __shared__ unsigned local[64];
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t t = threadIdx.x, block = blockDim.x;
    for (size_t bin = t; bin < 64; bin += block) local[bin] = 0;
    __syncthreads();
    if (i < x_len) atomicAdd(&local[x[i] % 64], 1u);
    __syncthreads();
    for (size_t bin = t; bin < 64; bin += block) atomicAdd(&bins[bin], local[bin]);
}
