// `y += a * x`, each thread every element a whole grid apart.
__global__ void cpp_strided(unsigned n, float a, const float *__restrict__ x, float *__restrict__ y) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = a * x[i] + y[i];
}
