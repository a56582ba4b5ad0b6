// examples/photo/kernels/photo.rs in CUDA C++.
constexpr int RADIUS = 16, ROW = 128, SIDE = 16;

struct Colour {
    float red, green, blue;
};

__device__ inline Colour unpack(unsigned pixel) {
    return {(float)(pixel & 255), (float)(pixel >> 8 & 255), (float)(pixel >> 16 & 255)};
}

__device__ inline unsigned byte(float value) { return (unsigned)(value + 0.5f); }

__device__ inline unsigned pack(Colour c) {
    return 0xff000000u | byte(c.blue) << 16 | byte(c.green) << 8 | byte(c.red);
}

__device__ inline void accumulate(Colour &sum, float weight, unsigned pixel) {
    Colour c = unpack(pixel);
    sum.red += weight * c.red;
    sum.green += weight * c.green;
    sum.blue += weight * c.blue;
}

__device__ inline int clamp(int value, int low, int high) { return min(max(value, low), high); }

extern "C" __global__ void blur_rows(unsigned width, const float *__restrict__ weights, size_t weights_len,
                                     const unsigned *__restrict__ picture, size_t picture_len,
                                     unsigned *blurred, size_t blurred_len) {
    __shared__ unsigned tile[ROW + 2 * RADIUS];
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned t = threadIdx.x;
    unsigned start = row * width;
    int first = (int)(blockIdx.x * ROW) - RADIUS;
    for (unsigned place = t; place < ROW + 2 * RADIUS; place += ROW) {
        int from = clamp(first + (int)place, 0, (int)width - 1);
        tile[place] = picture[start + (unsigned)from];
    }
    __syncthreads();
    size_t out = (size_t)row * width + column;
    if (column >= width || out >= blurred_len) return;
    Colour sum = {0.0f, 0.0f, 0.0f};
    int count = (int)(weights_len < RADIUS + 1 ? weights_len : RADIUS + 1);
    for (int distance = 0; distance < count; ++distance) {
        float weight = weights[distance];
        accumulate(sum, weight, tile[(int)t + RADIUS + distance]);
        if (distance > 0) accumulate(sum, weight, tile[(int)t + RADIUS - distance]);
    }
    blurred[out] = pack(sum);
}

extern "C" __global__ void blur_columns(unsigned width, const float *__restrict__ weights, size_t weights_len,
                                        const unsigned *__restrict__ picture, size_t picture_len,
                                        unsigned *blurred, size_t blurred_len) {
    constexpr int ROWS = SIDE + 2 * RADIUS;
    __shared__ unsigned tile[ROWS * SIDE];
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned height = (unsigned)picture_len / width;
    unsigned from_column = min(column, width - 1);
    int first = (int)(blockIdx.y * SIDE) - RADIUS;
    for (unsigned place = y; place < ROWS; place += SIDE) {
        int from = clamp(first + (int)place, 0, (int)height - 1);
        tile[place * SIDE + x] = picture[(unsigned)from * width + from_column];
    }
    __syncthreads();
    size_t out = (size_t)row * width + column;
    if (column >= width || out >= blurred_len) return;
    Colour sum = {0.0f, 0.0f, 0.0f};
    int middle = ((int)y + RADIUS) * SIDE + (int)x;
    int count = (int)(weights_len < RADIUS + 1 ? weights_len : RADIUS + 1);
    for (int distance = 0; distance < count; ++distance) {
        float weight = weights[distance];
        accumulate(sum, weight, tile[middle + distance * SIDE]);
        if (distance > 0) accumulate(sum, weight, tile[middle - distance * SIDE]);
    }
    blurred[out] = pack(sum);
}

extern "C" __global__ void sobel(unsigned width, const unsigned *__restrict__ picture, size_t picture_len,
                                 unsigned *edges, size_t edges_len) {
    constexpr int TILE_SIDE = SIDE + 2;
    __shared__ float tile[TILE_SIDE * TILE_SIDE];
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned height = (unsigned)picture_len / width;
    for (unsigned place = y * SIDE + x; place < TILE_SIDE * TILE_SIDE; place += SIDE * SIDE) {
        int from_column = (int)(blockIdx.x * SIDE + place % TILE_SIDE) - 1;
        int from_row = (int)(blockIdx.y * SIDE + place / TILE_SIDE) - 1;
        from_column = clamp(from_column, 0, (int)width - 1);
        from_row = clamp(from_row, 0, (int)height - 1);
        Colour c = unpack(picture[(unsigned)from_row * width + (unsigned)from_column]);
        tile[place] = 0.299f * c.red + 0.587f * c.green + 0.114f * c.blue;
    }
    __syncthreads();
    size_t out = (size_t)row * width + column;
    if (column >= width || out >= edges_len) return;
    auto at = [&](int dx, int dy) { return tile[(y + dy) * TILE_SIDE + x + dx]; };
    float across = at(2, 0) + 2.0f * at(2, 1) + at(2, 2) - at(0, 0) - 2.0f * at(0, 1) - at(0, 2);
    float down = at(0, 2) + 2.0f * at(1, 2) + at(2, 2) - at(0, 0) - 2.0f * at(1, 0) - at(2, 0);
    float strength = fminf(sqrtf(across * across + down * down), 255.0f);
    edges[out] = pack({strength, strength, strength});
}
