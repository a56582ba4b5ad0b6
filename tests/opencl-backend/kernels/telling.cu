// C's printf, in a function out of line too.
#include <cstdio>

__device__ __noinline__ int tell(const char *format, int i, float x) { return printf(format, i, "prints", x, 1ll << 40); }

extern "C" __global__ void tells(const float *x) {
  int i = threadIdx.x, bytes = tell("thread %d of %s has %.2f, %lld\n", i, x[i]);
  printf("thread %d told %d bytes", i, bytes);
  printf(", %s.%c", i % 2 ? "odd" : "even", '\n');
}
