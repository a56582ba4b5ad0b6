// Neighbours in one and two dimensions, kept within the image in the ways that people write.

#define TILE 16

// A step of heat conduction: a tile with a halo of one, whose outer threads only load.
extern "C" __global__ void heat_tile(float *out, const float *in, int width, int height, float rate) {
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * (TILE - 2) + threadIdx.x - 1, y = blockIdx.y * (TILE - 2) + threadIdx.y - 1;
    int cx = min(max(x, 0), width - 1), cy = min(max(y, 0), height - 1);
    tile[threadIdx.y][threadIdx.x] = in[cy * width + cx];
    __syncthreads();
    bool inner = threadIdx.x > 0 && threadIdx.x < TILE - 1 && threadIdx.y > 0 && threadIdx.y < TILE - 1;
    if (inner && x < width && y < height) {
        int left = max((int)threadIdx.x - 1, 0), right = min((int)threadIdx.x + 1, TILE - 1);
        float own = tile[threadIdx.y][threadIdx.x];
        float sides = tile[threadIdx.y][left] + tile[threadIdx.y][right];
        float ends = tile[threadIdx.y - 1][threadIdx.x] + tile[threadIdx.y + 1][threadIdx.x];
        out[y * width + x] = own + rate * (sides + ends - 4 * own);
    }
}

extern "C" __global__ void blur(float *out, const float *in, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            sum += in[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)];
    out[y * width + x] = sum / 25;
}

// An image whose edges meet.
extern "C" __global__ void torus(float *out, const float *in, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int right = (x + 1) % width, left = (x + width - 1) % width;
    int below = (y + 1) % height, above = (y + height - 1) % height;
    out[y * width + x] = in[y * width + left] + in[y * width + right] + in[above * width + x] + in[below * width + x];
}

// One row of the cheapest way through a grid.
extern "C" __global__ void cheapest(int *out, const int *before, const int *costs, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= n) return;
    int left = x > 0 ? before[x - 1] : before[x], right = x < n - 1 ? before[x + 1] : before[x];
    out[x] = costs[x] + min(before[x], min(left, right));
}
