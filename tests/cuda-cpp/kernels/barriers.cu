// Barriers at which warps wait at different places of the source: the hardware counts threads, whichever call they are at.

// Some warps fill the output, and wait once for the others, which count meanwhile.
__global__ void teams(int *out, const int *in, int fillers, int n) {
  __shared__ int sums[64];
  if (threadIdx.x < fillers) {
    for (int i = threadIdx.x; i < n; i += fillers) out[i] = -1;
    __syncthreads();
    return;
  }
  int own = threadIdx.x - fillers, count = blockDim.x - fillers;
  sums[own] = 0;
  for (int i = own; i < n; i += count) sums[own] += in[i];
  __syncthreads();
  out[own] = sums[own];
  __syncthreads();
  if (own == 0)
    for (int i = 1; i < count; i++) out[0] += out[i];
}
