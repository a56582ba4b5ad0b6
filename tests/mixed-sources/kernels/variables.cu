// Variables that the program reads and writes: in constant and in global memory, in a namespace, `static`, a struct, and
// one with initial values. `table` is a table: the program does not reach it.
struct Filter {
  float weights[3];
  int offset;
};

__constant__ float coefficients[4];
static __constant__ unsigned steps[2];
__constant__ float table[2] = {0.5f, 0.25f};
__device__ int counts[2][3] = {{1, 2, 3}, {4, 5, 6}};

namespace filter {
__constant__ Filter settings;
__device__ unsigned calls;
}  // namespace filter

extern "C" __global__ void weighted(const float *x, float *y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i == 0) atomicAdd(&filter::calls, 1u);
  float sum = filter::settings.weights[i % 3] + filter::settings.offset + steps[i & 1] + table[i & 1];
  y[i] = x[i] * coefficients[i & 3] + sum;
}

// Adds ten to each count.
extern "C" __global__ void counted() { (&counts[0][0])[threadIdx.x] += 10; }
