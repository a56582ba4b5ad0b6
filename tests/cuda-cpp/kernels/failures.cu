// What goes wrong on purpose.
#include <cassert>
#include <cstdio>

extern "C" __global__ void asserts(const int *x, int *y) {
  int i = threadIdx.x;
  assert(x[i] < 10 && "too much");
  y[i] = x[i] + 1;
}

extern "C" __global__ void traps(int *y, int which) {
  if ((int)threadIdx.x == which) __trap();
  y[threadIdx.x] = 7;
}

extern "C" __global__ void prints(float x) {
  printf("thread %d of %s has %.2f, %lld\n", (int)threadIdx.x, "prints", x, 1ll << 40);
}
