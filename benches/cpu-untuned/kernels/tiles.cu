// Tiles of 16 by 16 in shared memory, and blocks that pass elements on through it.

// How much the elements of a tile differ from the mean of their neighbours: a halo, sums of rows by shuffles, and a sum of
// these.
extern "C" __global__ void roughness(float *sums, const float *x, int width, int height) {
    __shared__ float tile[18][18];
    __shared__ float rows[16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = blockIdx.x * 16 + tx, j = blockIdx.y * 16 + ty;
    int column = min(i, width - 1), row = min(j, height - 1);
    tile[ty + 1][tx + 1] = x[row * width + column];
    if (tx == 0) tile[ty + 1][0] = x[row * width + max(i - 1, 0)];
    if (tx == 15) tile[ty + 1][17] = x[row * width + min(i + 1, width - 1)];
    if (ty == 0) tile[0][tx + 1] = x[max(j - 1, 0) * width + column];
    if (ty == 15) tile[17][tx + 1] = x[min(j + 1, height - 1) * width + column];
    __syncthreads();
    float sum = 0;
    if (i < width && j < height) {
        float around = tile[ty + 1][tx] + tile[ty + 1][tx + 2] + tile[ty][tx + 1] + tile[ty + 2][tx + 1];
        float apart = tile[ty + 1][tx + 1] - 0.25f * around;
        sum = apart * apart;
    }
    for (int by = 8; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffff, sum, by);
    if (tx == 0) rows[ty] = sum;
    __syncthreads();
    if (ty < 2) {
        sum = rows[tx];
        for (int by = 8; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffff, sum, by);
        if (tx == 0 && ty == 0) sums[blockIdx.y * gridDim.x + blockIdx.x] = sum;
    }
}

// The rows of each tile in the other order.
extern "C" __global__ void tiles_turned(float *out, const float *x, int width, int height) {
    __shared__ float tile[16][16];
    int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
    if (i < width && j < height) tile[threadIdx.y][threadIdx.x] = x[j * width + i];
    __syncthreads();
    int rows = min(16, height - (int)blockIdx.y * 16);
    if (i < width && j < height) out[j * width + i] = tile[rows - 1 - threadIdx.y][threadIdx.x];
}

// Each element of 512 goes to the next place, by threads that have two of them.
extern "C" __global__ void passed_on(float *__restrict__ out, const float *__restrict__ x, int n) {
    __shared__ float pairs[512];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (2 * i + 1 < n) {
        pairs[2 * t] = x[2 * i];
        pairs[2 * t + 1] = x[2 * i + 1];
    }
    __syncthreads();
    if (2 * i + 1 >= n) return;
    if (t == 0) {
        out[2 * i] = 0;
        out[2 * i + 1] = pairs[0];
    } else {
        out[2 * i] = pairs[2 * t - 1];
        out[2 * i + 1] = pairs[2 * t];
    }
}
