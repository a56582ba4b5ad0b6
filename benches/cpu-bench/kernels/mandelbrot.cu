// How often each pixel's number can be squared before it leaves the circle, at most `limit`.
__global__ void cpp_mandelbrot(unsigned width, unsigned height, float step, unsigned limit,
                               unsigned *out) {
  unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  float cx = column * step - 2.0f, cy = row * step - 1.25f, x = 0, y = 0;
  unsigned count = 0;
  while (count < limit && x * x + y * y <= 4.0f) {
    float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    count++;
  }
  out[row * width + column] = count;
}
