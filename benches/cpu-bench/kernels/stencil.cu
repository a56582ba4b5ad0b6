// A weighted mean of the nine pixels around each; those at the border are copied.
__global__ void cpp_stencil(unsigned width, unsigned height, const float *__restrict__ x,
                            float *__restrict__ y) {
  unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  unsigned here = row * width + column, up = here - width, down = here + width;
  if (row == 0 || column == 0 || row + 1 >= height || column + 1 >= width) {
    y[here] = x[here];
    return;
  }
  float corners = x[up - 1] + x[up + 1] + x[down - 1] + x[down + 1];
  float edges = x[up] + x[down] + x[here - 1] + x[here + 1];
  y[here] = 0.0625f * corners + 0.125f * edges + 0.25f * x[here];
}
