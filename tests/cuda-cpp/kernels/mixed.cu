// One kernel that every target can run, and others that not every one can.
#include "mixed.cuh"

extern "C" __global__ void everywhere(float *x) { x[threadIdx.x] *= FACTOR; }

extern "C" __global__ void inline_ptx(unsigned int *x) {
  x[threadIdx.x] = lane();
}

__device__ float elsewhere(float x);
extern "C" __global__ void nowhere(float *x) {
  x[threadIdx.x] = elsewhere(x[threadIdx.x]);
}
