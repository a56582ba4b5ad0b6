// A thread for each element: whole programs, with the host's code that launches them.
#include <cstdio>
#include <hip/hip_complex.h>
#include <hip/hip_runtime.h>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    hipError_t error = (call);                                                                     \
    if (error != hipSuccess) {                                                                     \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));                \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

__global__ void saxpy(float a, const float *x, float *y, unsigned n) {
  unsigned i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
  if (i < n) y[i] += a * x[i];
}

template <typename T> __global__ void scale(T *x, T factor, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] *= factor;
}

__constant__ float weights[3] = {0.25f, 0.5f, 0.25f};

__global__ void __launch_bounds__(256) smooth(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = -1; k <= 1; ++k) {
    int at = min(max(i + k, 0), n - 1);
    sum += weights[k + 1] * x[at];
  }
  y[i] = sum;
}

struct Particle {
  float4 place;
  float3 speed;
  int kind;
};

// Vectors have arithmetic in HIP.
__global__ void move(Particle *particles, float time, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Particle p = particles[i];
  float4 step = make_float4(p.speed.x, p.speed.y, p.speed.z, 0) * time;
  p.place += step;
  if (p.kind == 1) p.place = -(2.0f * p.place - step) / 4.0f;
  p.speed = p.speed * p.speed;
  particles[i] = p;
}

__global__ void spin(hipFloatComplex *z, hipFloatComplex by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = hipCdivf(hipCmulf(z[i], by), hipConjf(by));
}

int main() {
  hipDeviceProp_t properties;
  CHECK(hipGetDeviceProperties(&properties, 0));
  printf("%s %s\n", properties.name, properties.gcnArchName);
  const unsigned n = 1 << 20;
  float *x, *y;
  CHECK(hipMalloc(&x, n * sizeof(float)));
  CHECK(hipMalloc((void **)&y, n * sizeof(float)));
  CHECK(hipMemset(x, 0, n * sizeof(float)));
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  hipLaunchKernelGGL(saxpy, dim3(n / 256), dim3(256), 0, stream, 2.0f, x, y, n);
  hipLaunchKernelGGL(HIP_KERNEL_NAME(scale<double>), 64, 256, 0, 0, (double *)x, 2.0, (int)n / 2);
  scale<int><<<64, 256>>>((int *)y, 3, (int)n);
  // The constants of HIP are macros: the literal 0 is a stream too, and flags are asked for by the preprocessor.
  scale<int><<<dim3(64), dim3(256), 0, hipStreamDefault>>>((int *)y, 3, (int)n);
  hipEvent_t event;
  CHECK(hipEventCreateWithFlags(&event, hipEventDisableTiming));
  CHECK(hipEventRecord(event, hipStreamDefault));
  CHECK(hipMemcpyAsync(x, y, sizeof(float), hipMemcpyDeviceToDevice, hipStreamPerThread));
#if !defined hipHostMallocMapped || !defined hipEventDefault || !defined hipDeviceMallocDefault
#error "a constant that programs ask for is no macro"
#endif
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(weights), x, sizeof(weights)));
  CHECK(hipStreamSynchronize(stream));
  CHECK(hipFree(x));
  return 0;
}
