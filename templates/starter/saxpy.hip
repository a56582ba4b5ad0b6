// Kernels: functions that run on a device, once in each of many threads.
#include <hip/hip_runtime.h>

/// Adds `a` times `x` to `y`, both of `n` elements.
extern "C" __global__ void saxpy(unsigned n, float a, const float *x, float *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] += a * x[i];
    }
}
