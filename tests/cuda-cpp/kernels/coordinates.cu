// Addresses of coordinates: rows, rows backwards, one element for all, and none of them. Each kernel writes a word for each of `n`
// threads, of as many; `width` is uniform, and not 0.

#define KERNEL(name) extern "C" __global__ void name(unsigned *out, const unsigned *in, unsigned n, unsigned width)
#define INDEX unsigned i = blockIdx.x * blockDim.x + threadIdx.x

KERNEL(forwards) {
    INDEX;
    if (i >= n) return;
    unsigned x = i % width, y = i / width, rows = n / width;
    out[i] = in[y < rows ? (rows - 1 - y) * width + x : i];
}

KERNEL(backwards) {
    INDEX;
    if (i >= n) return;
    unsigned x = i % width, y = i / width, rows = n / width;
    out[i] = in[y < rows ? y * width + width - 1 - x : i];
}

KERNEL(one_for_all) {
    INDEX;
    if (i >= n) return;
    out[i] = in[i / width] * 3 + ((const unsigned char *)in)[i / width];
}

KERNEL(columns) {
    INDEX;
    if (i >= n) return;
    unsigned rows = n / width;
    unsigned place = i % rows * width + i / rows;
    out[i] = i < rows * width ? in[place] : 5;
}

// Some of the threads, by what they read.
KERNEL(some) {
    INDEX;
    if (i >= n) return;
    unsigned x = i % width, y = i / width, rows = n / width, sum = 1;
    if (in[i] % 3 && y < rows) sum = in[(rows - 1 - y) * width + x] + in[y] * 5;
    if (in[i] % 5 == 0 && y < rows) sum += in[y * width + width - 1 - x];
    out[i] = sum;
}

// What is written is where nobody else writes, in rows and not.
KERNEL(written) {
    INDEX;
    unsigned rows = n / width, x = i % width, y = i / width;
    if (i >= rows * width) return;
    out[(rows - 1 - y) * width + x] = in[i];
}

KERNEL(written_apart) {
    INDEX;
    unsigned rows = n / width;
    if (i >= rows * width) return;
    unsigned place = i % rows * width + i / rows;
    if (in[i] % 7) out[place] = in[i]; else out[place] = i;
}

// In a loop over the grid, in which threads stay for as long as each other or not.
KERNEL(over_the_grid) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (int)n; i += 2 * blockDim.x) {
        int x = i % (int)width, y = (i - x) / (int)width, back = i - 2 * x + width - 1;
        unsigned sum = x + in[y];
        if (back < (int)n && in[i] % 2) sum += in[back];
        out[y * (int)width + x] = sum;
    }
}

// One element for all, or a row, of memory that is not there where no thread of a vector reads it.
KERNEL(nowhere) {
    INDEX;
    if (i >= n) return;
    unsigned y = i / width;
    const unsigned *from = y % 2 ? in : (const unsigned *)(unsigned long long)(4 * y);
    unsigned value = 1;
    if (y % 2) value = from[y] * 3 + from[y / 2 * width + i % width];
    out[i] = value;
}
