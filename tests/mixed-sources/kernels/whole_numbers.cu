// Whole numbers in CUDA C++: what targets without integers of 128 bits, or without LLVM's intrinsics, do in other ways.
#include <cuda_runtime.h>

// The nearest whole numbers, a half away from zero, and a power of two times each.
extern "C" __global__ void rounded(const float *x, float *y, double *z, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = roundf(x[i]) + (float)lroundf(x[i] * 4) + exp2f((float)(int)x[i]);
  z[i] = round((double)x[i]) + ldexp((double)x[i], (int)i % 80 - 40);
}

// The high words of products and the bits of a number in the opposite order.
extern "C" __global__ void mirrored(const unsigned long long *x, unsigned long long *y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long a = x[i], b = x[n - 1 - i];
  y[i] = __umul64hi(a, b) ^ (unsigned long long)__mul64hi((long long)a, (long long)b) ^ __brevll(a) ^ __brev((unsigned)b);
}

// Loops over a few bytes, of which the optimiser makes vectors: whether any is that of the last one, and their sum.
extern "C" __global__ void looked_through(const unsigned char *x, int *y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned char *row = x + 4 * i;
  bool any = false;
  short sum = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    any |= row[k] == (unsigned char)n;
    sum += (short)row[k];
  }
  y[i] = any ? -sum : sum;
}
