// Blocks of 4 x 4 and of 8 x 8 threads, as the samples of many suites have them, and threads with small arrays.

// Gaussian elimination: one step of it, below row `step`, as in Rodinia.
extern "C" __global__ void eliminate_below(float *a, const float *factors, int step, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= n - 1 - step || x >= n - step) return;
    a[n * (y + 1 + step) + x + step] -= factors[y + 1 + step] * a[n * step + x + step];
}

// A product of matrices by tiles in shared memory, of which both sides are multiples of a tile's.
template <int TILE> __device__ void tiles(float *out, const float *a, const float *b, int n) {
    __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int start = 0; start < n; start += TILE) {
        of_a[threadIdx.y][threadIdx.x] = a[y * n + start + threadIdx.x];
        of_b[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += of_a[threadIdx.y][k] * of_b[k][threadIdx.x];
        __syncthreads();
    }
    out[y * n + x] = sum;
}

extern "C" __global__ void tiles_of_4(float *out, const float *a, const float *b, int n) { tiles<4>(out, a, b, n); }
extern "C" __global__ void tiles_of_8(float *out, const float *a, const float *b, int n) { tiles<8>(out, a, b, n); }

// The discrete cosine transform of blocks of 8 x 8 pixels, by rows and then by columns.
extern "C" __global__ void cosines(float *out, const float *in, const float *basis, int width) {
    __shared__ float pixels[8][8], rows[8][8];
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int u = threadIdx.x, v = threadIdx.y;
    pixels[v][u] = in[y * width + x] - 128;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += pixels[v][k] * basis[u * 8 + k];
    rows[v][u] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++) sum += rows[k][u] * basis[v * 8 + k];
    out[y * width + x] = sum;
}

// Sums of arrays, one of each a thread.
struct Numbers { float at[16]; };

extern "C" __global__ void add_arrays(float *out, const Numbers *in, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Numbers *own = (Numbers *)out + i;
    for (int k = 0; k < 16; k++) own->at[k] += by * in[i].at[k];
}
