// Sorts 512 elements at a time. Blocks of 256 threads.
__global__ void __launch_bounds__(256)
cpp_bitonic(const unsigned *__restrict__ x, unsigned *__restrict__ y) {
  __shared__ unsigned tile[512];
  unsigned t = threadIdx.x, start = blockIdx.x * 512;
  tile[t] = x[start + t];
  tile[t + 256] = x[start + t + 256];
  for (unsigned size = 2; size <= 512; size *= 2)
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      unsigned low = 2 * t - (t & (stride - 1));
      unsigned a = tile[low], b = tile[low + stride];
      if ((a > b) == ((low & size) == 0)) {
        tile[low] = b;
        tile[low + stride] = a;
      }
    }
  __syncthreads();
  y[start + t] = tile[t];
  y[start + t + 256] = tile[t + 256];
}
