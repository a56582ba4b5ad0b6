// Kernels for blocks that are narrow along x, whose vectors may go along y. Most of them number threads along y first, so
// that vectors along y are better in blocks of a few threads along x as well.

#define FULL 0xffffffffu

/// No barriers: a loop that ends differently in each row, and a condition on the place.
__global__ void narrow_rows(unsigned *out, const unsigned *x, unsigned rows) {
    unsigned height = blockDim.y * blockDim.z * gridDim.x;
    unsigned row = (blockIdx.x * blockDim.z + threadIdx.z) * blockDim.y + threadIdx.y;
    unsigned at = row * blockDim.x + threadIdx.x, most = 0;
    if (row >= rows) {
        out[at] = row;
        return;
    }
    for (unsigned below = row; below < min(row + 5, height); below++) {
        unsigned other = x[below * blockDim.x + threadIdx.x];
        if (other % 3 != threadIdx.y % 3) most = max(most, other + below);
    }
    out[at] = most;
}

/// Rows that are numbered along x: vectors along y read rows.
__global__ void narrow_columns(unsigned *out, const unsigned *x, unsigned add) {
    unsigned place = (blockIdx.x * blockDim.z + threadIdx.z) * blockDim.x + threadIdx.x;
    unsigned at = place * blockDim.y + threadIdx.y;
    unsigned sum = add;
    for (unsigned k = 0; k <= threadIdx.y && k < 6; k++) sum += x[at - k] * (k + 1);
    out[at] = sum;
}

/// Shared memory, steps with barriers, and numbers that are kept over them: bits, narrow and wide ones.
__global__ void narrow_tile(unsigned *out, const unsigned *x, unsigned steps) {
    __shared__ unsigned char bytes[1024];
    __shared__ unsigned tile[1024];
    unsigned t = (threadIdx.z * blockDim.x + threadIdx.x) * blockDim.y + threadIdx.y;
    unsigned count = blockDim.x * blockDim.y * blockDim.z, at = blockIdx.x * count + t;
    unsigned own = x[at];
    bool odd = own % 2 != 0;
    unsigned long long wide = own * 0x100000001ull;
    tile[t] = own;
    bytes[t] = own / 7;
    __syncthreads();
    for (unsigned step = 1; step < steps; step *= 2) {
        unsigned other = tile[(t + step) % count];
        unsigned char near = bytes[(t + count - step % count) % count];
        __syncthreads();
        if (odd) tile[t] = max(tile[t], other) + step;
        bytes[t] = min(bytes[t], near) + 1;
        wide += (unsigned long long)other << step;
        __syncthreads();
    }
    out[at] = tile[t] + bytes[t] * 3 + (unsigned)(wide >> 16) + odd;
}

/// A column of shared memory, as a scan along y has it.
__global__ void narrow_scan(unsigned *out, const unsigned *x, unsigned skip) {
    __shared__ unsigned column[2][1024];
    unsigned plane = threadIdx.z * blockDim.x + threadIdx.x, line = plane * blockDim.y + threadIdx.y;
    unsigned at = blockIdx.x * blockDim.x * blockDim.y * blockDim.z + line, from = 0;
    column[0][line] = x[at] + skip;
    __syncthreads();
    for (unsigned step = 1; step < blockDim.y; step *= 2) {
        unsigned sum = column[from][line];
        if (threadIdx.y >= step) sum += column[from][line - step];
        column[1 - from][line] = sum;
        from = 1 - from;
        __syncthreads();
    }
    out[at] = column[from][line];
}

/// Threads that return before others reach barriers: in whole rows, and here and there.
__global__ void narrow_exits(unsigned *out, const unsigned *x, unsigned rows) {
    __shared__ unsigned tile[1024];
    unsigned t = (threadIdx.z * blockDim.x + threadIdx.x) * blockDim.y + threadIdx.y;
    unsigned count = blockDim.x * blockDim.y * blockDim.z, at = blockIdx.x * count + t;
    unsigned own = x[at];
    tile[t] = own;
    __syncthreads();
    if (threadIdx.y >= rows) {
        out[at] = 5;
        return;
    }
    unsigned value = own + tile[count - 1 - t];
    __syncthreads();
    tile[t] = value;
    __syncthreads();
    if (own % 5 == 2) {
        out[at] = value;
        return;
    }
    value = value * 3 + tile[(t * 7 + 1) % count];
    __syncthreads();
    tile[t] = value;
    __syncthreads();
    out[at] = tile[(t + count / 2) % count] ^ value;
}

/// Warp collectives: neighbours in a warp are in different rows.
__global__ void narrow_warps(unsigned *out, const unsigned *x, unsigned flip) {
    unsigned t = (threadIdx.z * blockDim.x + threadIdx.x) * blockDim.y + threadIdx.y;
    unsigned count = blockDim.x * blockDim.y * blockDim.z, at = blockIdx.x * count + t;
    unsigned value = x[at] % 1000;
    for (unsigned step = 16; step > 0; step /= 2) value += __shfl_xor_sync(FULL, value, step) ^ flip;
    unsigned votes = __ballot_sync(FULL, x[at] % 3 == 0);
    value += __shfl_up_sync(FULL, value, 3) * 5;
    out[at] = value + votes * 7 + __popc(votes);
}

/// An array of the thread's own, over a barrier.
__global__ void narrow_arrays(unsigned *out, const unsigned *x, unsigned pick) {
    __shared__ unsigned sum[1024];
    unsigned t = (threadIdx.z * blockDim.x + threadIdx.x) * blockDim.y + threadIdx.y;
    unsigned count = blockDim.x * blockDim.y * blockDim.z, at = blockIdx.x * count + t;
    unsigned own[12];
    for (unsigned k = 0; k < 12; k++) own[(k + pick) % 12] = x[at] * (k + 1);
    sum[t] = own[threadIdx.y % 12];
    __syncthreads();
    own[x[at] % 12] += sum[count - 1 - t];
    out[at] = own[(pick * 5 + threadIdx.x) % 12] + own[3];
}

/// A loop over elements that the grid takes together, which can be interchanged with that over threads.
__global__ void narrow_strides(unsigned *out, const unsigned *x, unsigned rounds) {
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned count = blockDim.x * blockDim.y * blockDim.z, all = gridDim.x * count;
    for (unsigned i = blockIdx.x * count + t; i < rounds * all; i += all) out[i] = x[i] * 3 + t;
}

/// The same over rows.
__global__ void narrow_row_strides(unsigned *out, const unsigned *x, unsigned rounds) {
    unsigned rows = gridDim.x * blockDim.y * blockDim.z, width = blockDim.x * rounds;
    unsigned row = (blockIdx.x * blockDim.z + threadIdx.z) * blockDim.y + threadIdx.y, sum = row;
    for (unsigned column = threadIdx.x; column < width; column += blockDim.x) {
        sum += x[row * width + column];
        out[row * width + column] = sum % rows;
    }
}

/// Ends where an element is zero, before and after a barrier.
__global__ void narrow_traps(unsigned *out, const unsigned *x, unsigned after) {
    __shared__ unsigned tile[1024];
    unsigned t = (threadIdx.z * blockDim.x + threadIdx.x) * blockDim.y + threadIdx.y;
    unsigned count = blockDim.x * blockDim.y * blockDim.z, at = blockIdx.x * count + t;
    if (x[at] == 0 && !after) __trap();
    tile[t] = x[at];
    __syncthreads();
    if (x[at] == 0) __trap();
    out[at] = tile[count - 1 - t];
}
