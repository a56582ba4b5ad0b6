// Kernels whose rows may be run several at once, and kernels whose rows must not.

/// The place of a thread: the blocks of the grid lie along y.
struct Place {
    unsigned column, row, columns, rows;
    __device__ Place()
        : column(threadIdx.x), row((blockIdx.x * blockDim.z + threadIdx.z) * blockDim.y + threadIdx.y),
          columns(blockDim.x), rows(blockDim.y * blockDim.z * gridDim.x) {}
    __device__ unsigned at() const { return row * columns + column; }
};

/// A row of one matrix times a column of another, within the limits of an image.
__global__ void jammed_product(unsigned *out, const unsigned *x, unsigned limit) {
    Place own;
    if (own.row < limit && own.column + 1 < own.columns) {
        unsigned sum = 0;
        for (unsigned k = 0; k < own.columns; k++)
            sum += x[own.row * own.columns + k] * x[k % own.rows * own.columns + own.column];
        out[own.at()] = sum;
    }
}

/// The same in memory, which others than the thread may see at any time.
__global__ void jammed_in_memory(unsigned *out, const unsigned *x, unsigned limit) {
    Place own;
    if (own.row > limit) return;
    out[own.at()] = own.row;
    for (unsigned k = 0; k < own.columns; k++)
        out[own.at()] += x[own.row * own.columns + k] * x[k % own.rows * own.columns + own.column];
}

/// Rows that differ in the middle of others, and do something else.
__global__ void jammed_between(unsigned *out, const unsigned *x, unsigned limit) {
    Place own;
    unsigned sum = 1;
    if (own.row < limit || own.row > limit + 2)
        for (unsigned k = 0; k < own.columns % 9; k++) sum = sum * 3 + x[k % own.rows * own.columns + own.column] % (own.row + 1);
    else
        sum = x[own.at()] + own.row;
    out[own.at()] = sum;
}

/// Sums in floating point, which do not wait for each other: one in order, one of another kind.
__global__ void jammed_sums(unsigned *out, const unsigned *x, unsigned limit) {
    Place own;
    float sum = own.row, most = 0;
    for (unsigned k = 0; k <= limit % 19; k++) {
        float value = x[own.row * own.columns + (own.column + k) % own.columns] % 1000;
        sum = sum * 0.5f + value;
        most = fmaxf(most, value * (k + 1));
    }
    out[own.at()] = __float_as_uint(sum) ^ __float_as_uint(most);
}

/// Lanes that leave the loop in different iterations, alike in all rows.
__global__ void jammed_lanes(unsigned *out, const unsigned *x, unsigned limit) {
    Place own;
    unsigned sum = own.row;
    for (unsigned k = 0; k < own.column % 5 + limit % 3; k++) sum = sum * 31 + x[k * 3 % own.columns] * x[own.at()];
    if (own.row + 1 != limit) out[own.at()] = sum;
}

/// A number of 32 bits that wraps before it is an address, in some rows.
__global__ void jammed_wraps(unsigned *out, const unsigned *x, unsigned limit) {
    Place own;
    unsigned sum = 0, start = limit - own.columns * own.rows;
    for (unsigned k = 0; k < limit % 7 + 1; k++) sum += x[(start + own.at() + k) % (own.columns * own.rows)] * x[(own.column + k) % own.columns];
    out[own.at()] = sum;
}

/// Each row takes iterations of its own.
__global__ void single_triangle(unsigned *out, const unsigned *x, unsigned limit) {
    Place own;
    unsigned sum = limit;
    for (unsigned k = 0; k < own.row % 9; k++) sum = sum * 5 + x[k * own.columns + own.column] * (own.row + k);
    out[own.at()] = sum;
}

/// The data of a row decide what it does.
__global__ void single_data(unsigned *out, const unsigned *x, unsigned limit) {
    Place own;
    unsigned sum = x[own.row * own.columns];
    if (sum % 3 == limit % 3)
        for (unsigned k = 0; k < limit % 7 + 2; k++) sum += x[k % own.rows * own.columns + own.column] * own.row;
    out[own.at()] = sum;
}

/// A condition on both coordinates: rows agree in one lane and not in the next.
__global__ void single_diagonal(unsigned *out, const unsigned *x, unsigned limit) {
    Place own;
    unsigned sum = limit;
    if (own.row < own.column)
        for (unsigned k = 0; k < limit % 7 + 2; k++) sum += x[k % own.rows * own.columns + own.column] * own.row;
    out[own.at()] = sum;
}

/// Others see what a thread adds, and how often.
__global__ void single_atomic(unsigned *out, const unsigned *x, unsigned limit) {
    Place own;
    unsigned sum = limit;
    for (unsigned k = 0; k < limit % 7 + 2; k++)
        sum = sum * 3 + atomicAdd(&out[own.at()], x[k % own.rows * own.columns + own.column] * own.row);
    out[own.at()] ^= sum;
}

/// Each access of a thread is one.
__global__ void single_volatile(volatile unsigned *out, const volatile unsigned *x, unsigned limit) {
    Place own;
    unsigned sum = limit;
    for (unsigned k = 0; k < limit % 7 + 2; k++) sum += x[k % own.rows * own.columns + own.column] * own.row;
    out[own.at()] = sum;
}

/// A thread's own memory, found by numbers that are not known.
__global__ void single_array(unsigned *out, const unsigned *x, unsigned limit) {
    Place own;
    unsigned counts[8] = {};
    for (unsigned k = 0; k < limit % 7 + 4; k++) counts[x[k % own.rows * own.columns + own.column] * (own.row + 1) % 8] += k + 1;
    out[own.at()] = counts[limit % 8] + counts[own.row % 8] * 16;
}

/// A thread that fails is the only one that does.
__global__ void single_trap(unsigned *out, const unsigned *x, unsigned limit) {
    Place own;
    unsigned sum = limit;
    if (own.row == limit * 2) __trap();
    for (unsigned k = 0; k < limit % 7 + 2; k++) sum += x[k % own.rows * own.columns + own.column] * own.row;
    out[own.at()] = sum;
}

/// No loop: there is nothing that rows wait for.
__global__ void single_pass(unsigned *out, const unsigned *x, unsigned limit) {
    Place own;
    if (own.row != limit) out[own.at()] = x[own.at()] * 3 + own.row;
}
