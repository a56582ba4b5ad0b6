// Prefix sums of 256 elements at a time, each with itself. Blocks of 256 threads.
__global__ void __launch_bounds__(256)
cpp_scan(const unsigned *__restrict__ x, unsigned *__restrict__ y) {
  __shared__ unsigned tile[256];
  unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
  unsigned sum = x[i];
  tile[t] = sum;
  __syncthreads();
  for (unsigned step = 1; step < 256; step *= 2) {
    unsigned left = t >= step ? tile[t - step] : 0;
    __syncthreads();
    sum += left;
    tile[t] = sum;
    __syncthreads();
  }
  y[i] = sum;
}
