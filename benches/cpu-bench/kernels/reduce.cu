// The sum of 256 elements at a time, by a tree. Blocks of 256 threads.
__global__ void __launch_bounds__(256)
cpp_reduce(unsigned n, const float *__restrict__ x, float *__restrict__ sums) {
  __shared__ float tile[256];
  unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
  tile[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (unsigned half = 128; half > 0; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = tile[0];
}

// The same by exchanges in warps, first each in its own, then all eight of them: every warp takes that
// step, so that no thread waits alone.
__global__ void __launch_bounds__(256)
cpp_reduce_by_warps(unsigned n, const float *__restrict__ x, float *__restrict__ sums) {
  __shared__ float parts[8];
  unsigned t = threadIdx.x, i = blockIdx.x * 256 + t, lane = t % 32;
  float sum = i < n ? x[i] : 0;
  for (unsigned distance = 16; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, distance);
  if (lane == 0) parts[t / 32] = sum;
  __syncthreads();
  sum = lane < 8 ? parts[lane] : 0;
  for (unsigned distance = 4; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, distance);
  if (t == 0) sums[blockIdx.x] = sum;
}
