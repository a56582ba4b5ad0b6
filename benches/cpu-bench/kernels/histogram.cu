// Counts values below 256: in shared memory first. Blocks of 256 threads, each of which takes elements
// a whole grid apart.
__global__ void __launch_bounds__(256)
cpp_histogram(unsigned n, const unsigned *__restrict__ x, unsigned *bins) {
  __shared__ unsigned local[256];
  unsigned t = threadIdx.x;
  local[t] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) atomicAdd(&local[x[i] % 256], 1u);
  __syncthreads();
  atomicAdd(&bins[t], local[t]);
}
