// examples/matmul/kernels/matmul.rs in CUDA C++.
constexpr unsigned TILE = 16;

extern "C" __global__ void matmul(unsigned n, unsigned k, const float *__restrict__ a, size_t a_len,
                                  const float *__restrict__ b, size_t b_len, float *c, size_t c_len) {
    __shared__ float tile_a[TILE * TILE];
    __shared__ float tile_b[TILE * TILE];
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = threadIdx.x, y = threadIdx.y;
    float sum = 0.0f;
    for (unsigned start = 0; start < k; start += TILE) {
        unsigned place_a = row * k + start + x;
        unsigned place_b = (start + y) * n + column;
        tile_a[y * TILE + x] = start + x < k && place_a < a_len ? a[place_a] : 0.0f;
        tile_b[y * TILE + x] = column < n && place_b < b_len ? b[place_b] : 0.0f;
        __syncthreads();
#pragma unroll
        for (unsigned step = 0; step < TILE; ++step) {
            sum += tile_a[y * TILE + step] * tile_b[step * TILE + x];
        }
        __syncthreads();
    }
    size_t out = (size_t)row * n + column;
    if (column < n && out < c_len) c[out] = sum;
}
