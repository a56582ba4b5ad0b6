// Matrices by rows: threads along columns, along rows, and both.

// The product of each pair of columns: a thread has one column, and goes through all after it.
extern "C" __global__ void column_products(float *out, const float *in, int columns, int rows) {
    int own = blockIdx.x * blockDim.x + threadIdx.x;
    if (own >= columns) return;
    for (int other = own; other < columns; other++) {
        float sum = 0;
        for (int row = 0; row < rows; row++) sum += in[row * columns + own] * in[row * columns + other];
        out[own * columns + other] = sum;
        out[other * columns + own] = sum;
    }
}

extern "C" __global__ void row_sums(float *out, const float *in, int columns, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int column = 0; column < columns; column++) sum += in[row * columns + column];
    out[row] = sum;
}

extern "C" __global__ void column_sums(float *out, const float *in, int columns, int rows) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    float sum = 0;
    for (int row = 0; row < rows; row++) sum += in[row * columns + column];
    out[column] = sum;
}

extern "C" __global__ void transpose(float *out, const float *in, int columns, int rows) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < columns && row < rows) out[column * rows + row] = in[row * columns + column];
}

// One step of an elimination, whose rows are numbered along x.
extern "C" __global__ void eliminate(float *out, const float *in, const float *factors, int columns, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns) return;
    out[row * columns + column] = in[row * columns + column] - factors[row] * in[column];
}

// Each thread has one number of 64 bits for both coordinates.
__global__ void turned(float *out, const float *x, size_t columns, size_t rows) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= columns * rows) return;
    size_t column = i / rows, row = rows - 1 - i % rows;
    out[i] = x[row * columns + column];
}

// Each thread has one element, and goes along a row of `a` and down a column of `b`.
extern "C" __global__ void matrix_product(float *out, const float *a, const float *b, int columns, int rows, int depth) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows) return;
    float sum = 0;
    for (int k = 0; k < depth; k++) sum += a[row * depth + k] * b[k * columns + column];
    out[row * columns + column] = sum;
}

// A filter along rows, of as many weights as the launch says.
extern "C" __global__ void filter_rows(float *out, const float *in, const float *weights, int columns, int rows, int reach) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column < reach || column >= columns - reach) return;
    float sum = 0;
    for (int k = -reach; k <= reach; k++) sum += weights[k + reach] * in[row * columns + column + k];
    out[row * columns + column] = sum;
}

// A tensor backwards along some of its dimensions, whose extents are in memory.
extern "C" __global__ void backwards(float *out, const float *x, const long long *extents, const long long *is_backward, int dimensions, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long rest = i, from = 0, volume = n;
    for (int d = 0; d < dimensions; d++) {
        volume /= extents[d];
        long long place = rest / volume;
        rest -= place * volume;
        if (is_backward[d]) place = extents[d] - 1 - place;
        from += place * volume;
    }
    out[i] = x[from];
}

// The rows of images have lengths, the same in each image; what lies behind is filled.
extern "C" __global__ void filled(float *out, const float *x, const int *lengths, int width, int height, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int column = i % width;
        int row = (i - column) / width % height;
        int image = (i - column - row * width) / (width * height);
        int place = (image * height + row) * width + column;
        out[place] = column < lengths[row] ? x[place] : -1;
    }
}
