// Threads of a block that share memory, wait for each other and count together, for every target.
#include <assert.h>

struct Filter {
  float weights[3];
  int offset;
};

// The sum of each block, in dynamic shared memory.
extern "C" __global__ void block_sums(const float *x, float *sums, unsigned n) {
  extern __shared__ float partial[];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  partial[t] = i < n ? x[i] : 0.0f;
  for (unsigned size = blockDim.x / 2; size > 0; size /= 2) {
    __syncthreads();
    if (t < size) partial[t] += partial[t + size];
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

// The elements of each block in reverse order; the last block has fewer, and the other threads return before the barrier.
extern "C" __global__ void reversed(const int *x, int *y, int n) {
  __shared__ int tile[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= n) return;
  tile[threadIdx.x] = x[i];
  __syncthreads();
  int last = min(64, n - (int)blockIdx.x * 64) - 1;
  y[i] = tile[last - threadIdx.x];
}

// Numbers below 16 counted, and what atomic operations make of all of them.
extern "C" __global__ void counted_together(const unsigned *x, unsigned *counts, float *sums, double *wide, int n) {
  __shared__ unsigned own[16];
  __shared__ float sum;
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&own[x[i] % 16], 1u);
    atomicAdd(&sum, (float)x[i]);
    atomicAdd(wide, 0.5 * x[i]);
    atomicMax(&counts[16], x[i]);
    atomicInc(&counts[17], 99);
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// Votes and shuffles of warps.
extern "C" __global__ void together(const int *x, int *y) {
  int value = x[threadIdx.x], sum = value;
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  unsigned votes = __ballot_sync(0xffffffffu, value > 50);
  int next = __shfl_down_sync(0xffffffffu, value, 1, 8);
  long long wide = __shfl_sync(0xffffffffu, ((long long)value << 33) + 1, 3);
  y[threadIdx.x] = sum + 10000 * __popc(votes) + 1000 * next + (int)(wide >> 33);
  y[threadIdx.x] += __any_sync(0xffffffffu, value == 0) + 2 * __syncthreads_or(value == 99);
}

// A struct by value, an array of the thread's own, and the mathematical functions.
extern "C" __global__ void filtered(Filter filter, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float near[3];
  for (int k = 0; k < 3; ++k) near[k] = x[min(max(i + k - 1, 0), n - 1)];
  float sum = (float)filter.offset;
  for (int k = 0; k < 3; ++k) sum += filter.weights[k] * near[(i + k) % 3];
  y[i] = expf(sinf(sum)) + powf(fabsf(sum), 0.25f);
}

extern "C" __global__ void positive(const int *x, int *y, int n) {
  __shared__ int first;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) first = 7;
  assert(i >= n || x[i] > 0);
  __syncthreads();
  if (i < n) y[i] = x[i] + first;
}

// As many rounds of a block as a quotient says, which threads that have returned follow to the barriers.
extern "C" __global__ void rounds(int a, int b, int *y, int n) {
  __shared__ int tile[32];
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= n) return;
  assert(b != 0 && (b != -1 || a != -2147483647 - 1));
  int sum = 0;
  for (int round = 0; round < a / b; ++round) {
    tile[threadIdx.x] = i + round;
    __syncthreads();
    sum += tile[0];
    __syncthreads();
  }
  y[i] = sum + a % b;
}
