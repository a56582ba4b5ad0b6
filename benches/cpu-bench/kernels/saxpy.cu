// `y += a * x`.
__global__ void cpp_saxpy(unsigned n, float a, const float *__restrict__ x, float *__restrict__ y) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
