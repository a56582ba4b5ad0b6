// Kernels without faults, of every kind that the checks could mistake for one with.
#include <cooperative_groups.h>

__global__ void adds(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = y[i] + 2 * x[i];
}

__global__ void sums(const float *x, float *y, int n) {
  __shared__ float part[64];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? x[i] : 0;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) part[t] += part[t + half];
  }
  if (t == 0) y[blockIdx.x] = part[0];
}

__global__ void multiplies(const float *x, float *y, int n) {
  __shared__ float a[8][9], b[8][9];
  int tx = threadIdx.x % 8, ty = threadIdx.x / 8;
  float sum = 0;
  for (int tile = 0; tile < n / 8; tile++) {
    a[ty][tx] = x[ty * n + tile * 8 + tx];
    b[ty][tx] = x[(tile * 8 + ty) * n + tx];
    __syncthreads();
    for (int k = 0; k < 8; k++)
      sum += a[ty][k] * b[k][tx];
    __syncthreads();
  }
  y[ty * 8 + tx] = sum;
}

__global__ void counts(const float *x, float *y, int n) {
  __shared__ int bins[16];
  int t = threadIdx.x;
  if (t < 16) bins[t] = 0;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x)
    atomicAdd(&bins[int(x[i]) % 16], 1);
  __syncthreads();
  if (t < 16) y[t] = bins[t];
}

__global__ void exchanges_in_warps(const float *x, float *y, int n) {
  __shared__ volatile float tile[64];
  __shared__ float plain[64];
  int t = threadIdx.x;
  plain[t] = x[t];
  __syncwarp();
  float next = plain[t ^ 1];
  __syncwarp();
  plain[t] = next;
  tile[t] = next;
  __syncthreads();
  y[t] = plain[63 - t] + tile[t];
}

__global__ void rotates(const float *x, float *y, int n) {
  extern __shared__ float memory[];
  int t = threadIdx.x;
  memory[t] = x[t];
  __syncthreads();
  y[t] = memory[(t + 1) % blockDim.x];
}

struct Pair {
  float first, second;
};

__global__ void bytes_and_pairs(const float *x, float *y, int n) {
  __shared__ unsigned char flags[64];
  __shared__ Pair pairs[64];
  int t = threadIdx.x;
  flags[t] = x[t] > 3;
  pairs[t].first = x[t];
  pairs[t].second = flags[t];
  __syncthreads();
  Pair p = pairs[(t + 7) % 64];
  y[t] = p.first + 100 * p.second + flags[63 - t];
}

__global__ void leaves_early(const float *x, float *y, int n) {
  __shared__ float tile[64];
  int t = threadIdx.x;
  if (blockIdx.x * blockDim.x >= n) return;
  const float *end = x + n;
  float sum = 0;
  for (const float *p = x + t; p < end; p += blockDim.x)
    sum += *p;
  tile[t] = sum;
  cooperative_groups::this_thread_block().sync();
  const float *from = t % 2 ? tile : x;
  y[t] = from[t] + __syncthreads_count(t < 3);
}
