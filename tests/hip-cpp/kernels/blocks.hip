// Threads of a block that share memory.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>
#include <assert.h>

namespace cg = cooperative_groups;

#define TILE 16

__global__ void transpose(const float *in, float *out, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void histogram(const unsigned *x, unsigned *counts, unsigned *greatest, float *sum, float *extremes, int n) {
  __shared__ unsigned own[16];
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&own[x[i] % 16], 1u);
    atomicMax(greatest, x[i]);
    unsafeAtomicAdd(sum, (float)(x[i] % 16));
    atomicMin(&extremes[0], (float)x[i] - 50);
    atomicMax(&extremes[1], (float)x[i] + 0.5f);
  }
  __syncthreads();
  if (threadIdx.x < 16)
    __hip_atomic_fetch_add(&counts[threadIdx.x], own[threadIdx.x], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// The sums of all elements up to each, in a block.
__global__ void scan(const int *x, int *sums) {
  extern __shared__ int buffer[];
  int i = threadIdx.x, n = blockDim.x;
  buffer[i] = x[blockIdx.x * n + i];
  __syncthreads();
  for (int distance = 1; distance < n; distance *= 2) {
    int before = i >= distance ? buffer[i - distance] : 0;
    __syncthreads();
    buffer[i] += before;
    __syncthreads();
  }
  sums[blockIdx.x * n + i] = buffer[i];
}

__global__ void tiles(const int *x, int *out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  int value = x[block.thread_rank()];
  for (int distance = 4; distance > 0; distance /= 2) value += tile.shfl_down(value, distance);
  if (tile.thread_rank() == 0) out[block.thread_rank() / 8] = value;
}

__global__ void checked(const int *x, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  assert(x[i] >= 0);
  out[i] = x[i];
}

// What launches pass behind the parameters: where panics are recorded, memory of a variable that the host does not reach, and
// shared memory.
namespace {
__device__ unsigned seen[2] = {5, 7};
}

__device__ __noinline__ unsigned counted(unsigned i) { return atomicAdd(&seen[i & 1], 2u); }

__global__ void remembered(unsigned *x, unsigned limit) {
  extern __shared__ unsigned taken[];
  taken[threadIdx.x] = counted(threadIdx.x);
  __syncthreads();
  unsigned sum = 0;
  for (unsigned i = 0; i < blockDim.x; i++) sum += taken[i];
  assert(sum < limit);
  x[threadIdx.x] = sum;
}
