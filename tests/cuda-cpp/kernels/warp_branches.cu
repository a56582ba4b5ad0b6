// Warp collectives under branches that differ between the threads of a block, and in loops of different lengths.

#define FULL 0xffffffffu
#define T ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)
#define SIZE (blockDim.x * blockDim.y * blockDim.z)

static __device__ unsigned warp_sum(unsigned value) {
    for (int by = 16; by > 0; by >>= 1) value += __shfl_xor_sync(FULL, value, by);
    return value;
}

/// One row of a two-dimensional block adds up what all have left.
__global__ void branch_row(unsigned *out, const unsigned *x, unsigned n) {
    __shared__ unsigned tile[1024];
    unsigned t = T, i = blockIdx.x * SIZE + t;
    tile[t] = x[i] % n;
    __syncthreads();
    unsigned sum = 5;
    if (threadIdx.y == 0 && threadIdx.z == 0) {
        sum = 0;
        for (unsigned row = 0; row < blockDim.y * blockDim.z; row++) sum += tile[row * blockDim.x + threadIdx.x];
        sum = warp_sum(sum);
        tile[threadIdx.x] = sum;
    }
    __syncthreads();
    out[i] = tile[threadIdx.x] * 3 + sum;
}

/// A block's sum in two steps: of each warp, and then the first warp those of all.
__global__ void branch_first_warp(unsigned *out, const unsigned *x, unsigned n) {
    __shared__ unsigned sums[32];
    unsigned t = T, i = blockIdx.x * SIZE + t, lane = t % 32, warp = t / 32;
    unsigned sum = warp_sum(x[i] % n);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < (SIZE + 31) / 32 ? sums[lane] : 0;
        sum = warp_sum(sum);
        if (lane == 0) sums[0] = sum;
    }
    __syncthreads();
    out[i] = sums[0] + sum;
}

/// Both ways have collectives, and values that differ join behind.
__global__ void branch_both(unsigned *out, const unsigned *x, unsigned n) {
    __shared__ unsigned tile[1024];
    unsigned t = T, i = blockIdx.x * SIZE + t, lane = t % 32, warp = t / 32, value = x[i], other = lane;
    if ((x[warp] + n) % 3 == 0) {
        value += __shfl_down_sync(FULL, value, 5);
        other = __ballot_sync(FULL, value % 2);
    } else {
        for (unsigned by = 1; by < 32; by *= 2) {
            unsigned left = __shfl_up_sync(FULL, value, by);
            if (lane >= by) value += left;
        }
        other ^= value;
    }
    tile[t] = value;
    __syncthreads();
    out[i] = tile[SIZE - 1 - t] ^ other;
}

/// Rows of a matrix, a warp for each at a time: warps have different numbers of them.
__global__ void branch_rows(unsigned *out, const unsigned *x, unsigned rows) {
    __shared__ unsigned tile[1024];
    unsigned t = T, i = blockIdx.x * SIZE + t, lane = t % 32, warp = t / 32, warps = (SIZE + 31) / 32, last = 9;
    tile[t] = t;
    __syncthreads();
    for (unsigned row = warp; row < rows; row += warps) {
        unsigned sum = 0;
        for (unsigned column = lane; column < 32 + row % 64; column += 32) sum += x[(row * 7 + column) % SIZE];
        sum = warp_sum(sum);
        tile[t] += sum;
        last = sum + row;
    }
    __syncthreads();
    out[i] = tile[(t + 33) % SIZE] ^ last;
}

/// As many rounds as each warp's data says, with a way out in the middle, and shuffles after.
__global__ void branch_rounds(unsigned *out, const unsigned *x, unsigned n) {
    unsigned t = T, i = blockIdx.x * SIZE + t, warp = t / 32, value = x[i], round = 0;
    unsigned most = x[warp] % 7 + n;
    while (round < most) {
        value = value * 3 + __shfl_xor_sync(FULL, value, 1 + round % 16);
        if ((x[warp] + round * 5) % 11 == 0) break;
        value ^= round;
        round++;
    }
    value += __shfl_down_sync(FULL, value, 1);
    out[i] = value * 32 + round;
}

/// Branches and loops in each other.
__global__ void branch_nested(unsigned *out, const unsigned *x, unsigned n) {
    __shared__ unsigned tile[1024];
    unsigned t = T, i = blockIdx.x * SIZE + t, warp = t / 32, value = x[i], count = 0;
    for (unsigned step = 0; step < 3; step++) {
        if ((warp + step) % 2 == n % 2) {
            for (unsigned k = 0; k < (x[warp] + step) % 4; k++) {
                if ((x[warp] + k) % 3 == 1) {
                    value += __shfl_xor_sync(FULL, value, 1 << k);
                    count += 3;
                } else if (k % 2) {
                    value ^= __ballot_sync(FULL, value % 3 == 0);
                }
                count++;
            }
            __syncwarp();
        } else {
            value = __shfl_sync(FULL, value, (t + step) % 32) + 1;
        }
        tile[t] = value;
        __syncthreads();
        value += tile[(t + 32) % SIZE];
        __syncthreads();
    }
    out[i] = value ^ count;
}

/// Warps that return from the middle of a condition, and barriers of the others.
__global__ void branch_returns(unsigned *out, const unsigned *x, unsigned n) {
    __shared__ unsigned tile[1024];
    unsigned t = T, i = blockIdx.x * SIZE + t, warp = t / 32, value = x[i];
    tile[t] = value;
    __syncthreads();
    if (warp % 2 == 1) {
        value = warp_sum(value);
        if ((x[warp] + n) % 3 == 0) {
            out[i] = value;
            return;
        }
        value += __shfl_up_sync(FULL, value, 2);
    }
    __syncthreads();
    out[i] = value + tile[(t + 1) % SIZE];
}

/// Lanes that go different ways, and collectives of those that are there.
__global__ void branch_lanes(unsigned *out, const unsigned *x, unsigned n) {
    unsigned t = T, i = blockIdx.x * SIZE + t, value = x[i], votes = 0;
    if (value % 5 < n) {
        unsigned here = __activemask();
        votes = __ballot_sync(here, value % 2);
        unsigned again = __activemask();
        value += __shfl_xor_sync(again, value, 1);
    }
    __syncwarp();
    value += __shfl_down_sync(FULL, value, 4);
    out[i] = value ^ votes;
}

/// Lanes that part before a collective that names all of them, where the others come to a barrier.
__global__ void branch_never(unsigned *out, const unsigned *x, unsigned n) {
    unsigned t = T, i = blockIdx.x * SIZE + t, value = x[i];
    if (value % 16 >= n) value = warp_sum(value);
    __syncthreads();
    out[i] = value;
}

/// A barrier of the block under a condition of warps.
__global__ void branch_barrier(unsigned *out, const unsigned *x, unsigned n) {
    unsigned t = T, i = blockIdx.x * SIZE + t, value = x[i];
    if (x[t / 32] % 4 >= n) {
        value = warp_sum(value);
        __syncthreads();
    }
    value += __shfl_xor_sync(FULL, value, 1);
    __syncthreads();
    out[i] = value;
}

/// A warp that waits for another.
__global__ void branch_waits(unsigned *out, const unsigned *x, unsigned n) {
    __shared__ volatile unsigned ready;
    unsigned t = T, i = blockIdx.x * SIZE + t, value = x[i];
    if (t == 0) ready = 0;
    __syncthreads();
    if (t / 32 == 0) {
        for (unsigned tries = 0; tries < n && ready == 0; tries++) __syncwarp();
        value += n;
    } else {
        ready = 1;
        value = warp_sum(value);
    }
    __syncthreads();
    out[i] = value;
}

/// Halves of a warp that meet at different places.
__global__ void branch_halves(unsigned *out, const unsigned *x, unsigned n) {
    unsigned t = T, i = blockIdx.x * SIZE + t, value = x[i];
    if (threadIdx.x & 16) value += __shfl_xor_sync(FULL, value, 16);
    else value = n * __shfl_xor_sync(FULL, value, 16);
    __syncwarp();
    out[i] = value + __shfl_down_sync(FULL, value, 1);
}
