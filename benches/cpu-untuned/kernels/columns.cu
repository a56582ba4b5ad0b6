// Images by columns, in blocks that are narrow along x.

#define COLUMN 32
#define REACH 32

// The least of `reach` bytes from each place of a column down, a power of two: minima of 1, 2, 4 bytes and so on.
extern "C" __global__ void erode_column(unsigned char *out, const unsigned char *in, int width, int height, int reach) {
    __shared__ unsigned char column[COLUMN + REACH];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width) return;
    column[threadIdx.y] = y < height ? in[y * width + x] : 255;
    column[threadIdx.y + COLUMN] = y + COLUMN < height ? in[(y + COLUMN) * width + x] : 255;
    __syncthreads();
    for (int step = 1; step < reach; step *= 2) {
        unsigned char near = min(column[threadIdx.y], column[threadIdx.y + step]);
        unsigned char far = column[threadIdx.y + COLUMN];
        if (threadIdx.y + step < COLUMN) far = min(far, column[threadIdx.y + COLUMN + step]);
        __syncthreads();
        column[threadIdx.y] = near;
        column[threadIdx.y + COLUMN] = far;
        __syncthreads();
    }
    if (y < height) out[y * width + x] = column[threadIdx.y];
}

// The largest of `reach` numbers from each place of a column down.
extern "C" __global__ void highest_below(float *out, const float *in, int width, int height, int reach) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float most = in[y * width + x];
    for (int below = y + 1; below < min(y + reach, height); below++) most = fmaxf(most, in[below * width + x]);
    out[y * width + x] = most;
}
