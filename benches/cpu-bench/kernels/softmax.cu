#include <float.h>

// The softmax of each row of `columns` elements. A block of 256 threads for each row.
__global__ void __launch_bounds__(256)
cpp_softmax(unsigned columns, const float *__restrict__ x, float *__restrict__ y) {
  __shared__ float tile[256];
  unsigned t = threadIdx.x;
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  float most = -FLT_MAX;
  for (unsigned i = t; i < columns; i += 256) most = fmaxf(most, x[i]);
  tile[t] = most;
  __syncthreads();
  for (unsigned half = 128; half > 0; half /= 2) {
    if (t < half) tile[t] = fmaxf(tile[t], tile[t + half]);
    __syncthreads();
  }
  most = tile[0];
  __syncthreads();
  float sum = 0;
  for (unsigned i = t; i < columns; i += 256) {
    float value = expf(x[i] - most);
    y[i] = value;
    sum += value;
  }
  tile[t] = sum;
  __syncthreads();
  for (unsigned half = 128; half > 0; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  float scale = 1 / tile[0];
  for (unsigned i = t; i < columns; i += 256) y[i] *= scale;
}
