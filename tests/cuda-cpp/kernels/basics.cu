// What almost every kernel uses.
#include <cuda_runtime.h>
#include <stdint.h>

// CHECK-PTX: ld.global.nc
// CHECK-PTX: fma.rn.f32
// CHECK-PTX: st.global
// CHECK-PTX-NOT: mul.rn.f32
// CHECK-AMD: global_load
// CHECK-AMD-NOT: flat_load
extern "C" __global__ void saxpy(int n, float a, const float *__restrict__ x, float *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// CHECK-PTX: .maxntid 256
// CHECK-PTX-COUNT-2: bar.sync
// CHECK-PTX: st.shared
// CHECK-AMD: s_barrier
// Sums each block in shared memory.
extern "C" __global__ void __launch_bounds__(256) block_sums(const float *x, float *sums, int n) {
  __shared__ float tile[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  tile[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = tile[0];
}

// CHECK-PTX: st.shared
// CHECK-PTX: ld.shared
// CHECK-PTX-COUNT-1: bar.sync
// Reverses a block in the shared memory that the launch asks for.
extern "C" __global__ void reverse(const int *x, int *y) {
  extern __shared__ int words[];
  words[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
}

// One float, through double where it is one.
namespace filters {
template <typename T, int Power> __global__ void scale(float *x, T factor) {
  T value = x[threadIdx.x];
  for (int i = 0; i < Power; i++) value *= factor;
  x[threadIdx.x] = (float)value;
}
}  // namespace filters
template __global__ void filters::scale<float, 1>(float *, float);
template __global__ void filters::scale<double, 3>(float *, double);

extern "C" __global__ void histogram(const unsigned int *x, unsigned int *bins, int n) {
  __shared__ unsigned int local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[x[i] % 16], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

// CHECK-PTX-COUNT-5: shfl.sync.down
// CHECK-PTX-COUNT-5: shfl.sync.bfly
// The sum and the greatest of each warp, by shuffles.
extern "C" __global__ void warp_reduce(const float *x, float *sums, float *greatest) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = x[i], most = x[i];
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, distance);
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, distance));
  }
  if (threadIdx.x % 32 == 0) sums[i / 32] = sum, greatest[i / 32] = most;
}

// The address of part of a shared array is a constant that is not used in every instantiation.
template <int Rows> __global__ void rows(float *x) {
  __shared__ float tile[4][32];
  float *last = Rows > 2 ? tile[3] : nullptr;
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  if (Rows > 2) x[threadIdx.y * 32 + threadIdx.x] += last[threadIdx.x];
}
template __global__ void rows<1>(float *);
template __global__ void rows<4>(float *);

struct Params {
  float weights[6];
  int64_t offset;
  unsigned char flag;
};
// CHECK-PTX: .param .align 8 .b8
// The parameter is changed, which is each thread's own business.
extern "C" __global__ void weigh(Params params, float *out) {
  int i = threadIdx.x;
  params.weights[i % 6] += params.offset;
  out[i] = params.flag ? params.weights[i % 6] : -1.0f;
}

__constant__ float coefficients[4] = {0.5f, 1.5f, -2.0f, 4.0f};
__device__ int visits = 3;
extern "C" __global__ void polynomial(const float *x, float *y, bool square) {
  float v = square ? x[threadIdx.x] * x[threadIdx.x] : x[threadIdx.x], sum = 0;
  for (int i = 3; i >= 0; i--) sum = sum * v + coefficients[i];
  y[threadIdx.x] = sum + visits;
}

typedef unsigned int (*Operation)(unsigned int, unsigned int);
__device__ unsigned int add(unsigned int a, unsigned int b) { return a + b; }
__device__ unsigned int multiply(unsigned int a, unsigned int b) { return a * b; }
__device__ Operation operations[2] = {add, multiply};
__device__ __noinline__ unsigned int fibonacci(unsigned int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
// CHECK-PTX: fibonacci
extern "C" __global__ void calls(unsigned int *x, int which) {
  x[threadIdx.x] = operations[which](fibonacci(threadIdx.x % 10), x[threadIdx.x]);
}
