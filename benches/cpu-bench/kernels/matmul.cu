// `c = a * b` for square matrices of `n` rows, a multiple of 16. Blocks of 16 by 16 threads, each with a
// tile of 16 by 16.
__global__ void cpp_matmul_16x16(unsigned n, const float *__restrict__ a, const float *__restrict__ b,
                                 float *__restrict__ c) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  unsigned x = threadIdx.x, y = threadIdx.y;
  unsigned column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0;
  for (unsigned start = 0; start < n; start += 16) {
    tile_a[y][x] = a[row * n + start + x];
    tile_b[y][x] = b[(start + y) * n + column];
    __syncthreads();
    for (unsigned k = 0; k < 16; k++) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// The same for a multiple of 32, with blocks of 32 by 8 threads, each with a tile of 32 by 32: a thread
// has four elements of `c`, eight rows apart.
__global__ void cpp_matmul_32x8(unsigned n, const float *__restrict__ a, const float *__restrict__ b,
                                float *__restrict__ c) {
  __shared__ float tile_a[32][32], tile_b[32][32];
  unsigned x = threadIdx.x, y = threadIdx.y;
  unsigned left = blockIdx.x * 32, top = blockIdx.y * 32;
  float sums[4] = {};
  for (unsigned start = 0; start < n; start += 32) {
    for (unsigned row = y; row < 32; row += 8) {
      tile_a[row][x] = a[(top + row) * n + start + x];
      tile_b[row][x] = b[(start + row) * n + left + x];
    }
    __syncthreads();
    for (unsigned k = 0; k < 32; k++)
      for (unsigned part = 0; part < 4; part++) sums[part] += tile_a[y + 8 * part][k] * tile_b[k][x];
    __syncthreads();
  }
  for (unsigned part = 0; part < 4; part++) c[(top + y + 8 * part) * n + left + x] = sums[part];
}
