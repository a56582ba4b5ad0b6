// Threads that return before others reach a barrier or a shuffle.

#define FULL 0xffffffffu

/// A block reduction: the most common shape.
__global__ void exit_reduce(unsigned *out, const unsigned *x, unsigned n) {
    __shared__ unsigned tile[1024];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = 0;
    __syncthreads();
    if (i >= n) return;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    unsigned half = 512;
    for (; half > 0; half >>= 1) {
        if (threadIdx.x < half && threadIdx.x + half < blockDim.x)
            tile[threadIdx.x] += tile[threadIdx.x + half];
        __syncthreads();
    }
    out[i] = tile[0] + x[i];
}

/// Exits at several places, in two dimensions, with work on the way out.
__global__ void exit_twice(unsigned *out, const unsigned *x, unsigned w, unsigned h) {
    __shared__ unsigned tile[1024];
    unsigned t = threadIdx.y * blockDim.x + threadIdx.x;
    unsigned at = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + t;
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    tile[t] = x[at];
    __syncthreads();
    if (column >= w) {
        out[at] = 1 + x[at ^ 1] / 2;
        return;
    }
    out[at] = 2;
    if (row >= h) {
        if (x[at] % 3 == 0) out[at] += 7;
        return;
    }
    tile[t] += row;
    __syncthreads();
    unsigned sum = 0;
    for (unsigned k = 0; k < threadIdx.x; k++) sum += tile[threadIdx.y * blockDim.x + k];
    __syncthreads();
    tile[t] = sum;
    __syncthreads();
    out[at] += tile[threadIdx.y * blockDim.x + threadIdx.x / 2] * 16 + column;
}

/// `break`-like returns of a loop with barriers, in different iterations, on data.
__global__ void exit_in_loop(unsigned *out, const unsigned *x, unsigned rounds) {
    __shared__ unsigned tile[1024];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t, value = x[i];
    tile[t] = value;
    __syncthreads();
    for (unsigned round = 0; round < rounds; round++) {
        unsigned other = tile[(t + round) % blockDim.x];
        __syncthreads();
        value = value * 5 + other + round;
        if (value % 11 == round % 11) {
            tile[t] = 77;
            out[i] = value + round * 1000;
            return;
        }
        tile[t] = value;
        __syncthreads();
    }
    out[i] = value ^ 0x5555;
}

/// Barriers under a condition after which nothing waits, with code for all behind.
__global__ void exit_without_return(unsigned *out, const unsigned *x, unsigned n) {
    __shared__ unsigned tile[1024];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t, value = x[i];
    tile[t] = value;
    __syncthreads();
    if (value % 5 < n) {
        value += tile[blockDim.x - 1 - t];
        __syncthreads();
        tile[t] = value * 3;
        __syncthreads();
        value = tile[(t + 1) % blockDim.x];
    }
    for (unsigned k = 0; k < value % 4; k++) value += value / 3 + k;
    out[i] = value;
}

/// As many barriers as each thread says.
__global__ void exit_by_trips(unsigned *out, const unsigned *x) {
    __shared__ unsigned tile[1024];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t, sum = 0;
    tile[t] = 1;
    __syncthreads();
    for (unsigned k = 0; k < x[i] % 7; k++) {
        sum += tile[(t + k) % blockDim.x] + k;
        __syncthreads();
        if (t % 2 == k % 2) tile[t] += sum;
        __syncthreads();
    }
    out[i] = sum;
}

/// Warps that exit as a whole, and shuffles and votes of the others.
__global__ void exit_warps(unsigned *out, const unsigned *x, unsigned rows) {
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned size = blockDim.x * blockDim.y * blockDim.z, i = blockIdx.x * size + t;
    unsigned warp = i / 32, lane = t % 32;
    if (warp >= rows) return;
    unsigned value = x[i];
    for (int by = 16; by > 0; by >>= 1) value += __shfl_xor_sync(FULL, value, by);
    unsigned votes = __ballot_sync(FULL, value % 3 == lane % 3);
    out[i] = value ^ votes + __shfl_sync(FULL, votes, 3);
}

/// Lanes that exit, and every collective of the rest.
__global__ void exit_lanes(unsigned *out, const unsigned *x, unsigned n) {
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned size = blockDim.x * blockDim.y * blockDim.z, i = blockIdx.x * size + t;
    unsigned lane = t % 32, value = x[i], all = __ballot_sync(FULL, value % 2);
    out[i] = all;
    if (value % 7 >= n) return;
    value += __shfl_down_sync(FULL, value, 3);
    value ^= __shfl_up_sync(FULL, value, 5);
    value += __shfl_sync(FULL, value, value % 32) * 3;
    __syncwarp();
    value ^= __shfl_xor_sync(FULL, value, 1);
    unsigned here = __activemask();
    value += __ballot_sync(FULL, value % 3 == 0) + __any_sync(FULL, value % 64 == 0) + __all_sync(FULL, value);
    if (value % 13 == 0) {
        out[i] = 5 + here;
        return;
    }
    value += __shfl_down_sync(FULL, value, 1) + __ballot_sync(FULL, lane % 2);
    out[i] = value ^ here;
}

/// Exits in a loop of shuffles: what a lane that is left gets changes in each iteration.
__global__ void exit_scan(unsigned *out, const unsigned *x, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, sum = x[i];
    for (unsigned by = 1; by < n; by *= 2) {
        unsigned below = __shfl_up_sync(FULL, sum, by);
        if (lane >= by) sum += below;
        if (sum % 9 == by) {
            out[i] = sum;
            return;
        }
    }
    out[i] = ~sum;
}

/// Stack memory, atomics and a divergent loop after an exit; threads 0 of warps are among those that leave.
__global__ void exit_mixed(unsigned *out, unsigned *bins, const unsigned *x, unsigned n) {
    __shared__ unsigned counts[16];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t, own[8], value = x[i];
    for (unsigned k = 0; k < 8; k++) own[k] = value + k * t;
    for (unsigned k = t; k < 16; k += blockDim.x) counts[k] = 0;
    __syncthreads();
    if (t % 32 < n) return;
    atomicAdd(&counts[value % 16], 1);
    __syncthreads();
    unsigned sum = 0;
    while (value > 3) {
        sum += own[value % 8];
        own[(value + 1) % 8] ^= sum;
        value = value / 2 - value / 7;
    }
    if (counts[t % 16] == 0) return;
    __syncthreads();
    atomicAdd(&bins[sum % 32], counts[t % 16]);
    unsigned share = 100 / counts[t % 16];
    __syncthreads();
    out[i] = sum + share + own[t % 8];
}

/// The trip count of the loop is only right for threads that stay: the others' would be billions.
__global__ void exit_block(unsigned *out, const unsigned *x, unsigned n) {
    __shared__ unsigned tile[1024];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i >= n) return;
    unsigned left = n - blockIdx.x * blockDim.x, sum = 0;
    for (unsigned k = 0; k < left; k += blockDim.x) {
        tile[t] = x[i] + k;
        __syncthreads();
        sum += tile[t > 0 ? t - 1 : 0] + x[blockIdx.x * blockDim.x + k / blockDim.x];
        __syncthreads();
        if (sum % 2 && left - k < 100000) break;
    }
    out[i] = sum;
}

/// An exit under a condition of its own: control is still divergent.
__global__ void exit_inside(unsigned *out, const unsigned *x, unsigned n) {
    __shared__ unsigned tile[1024];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t, value = x[i];
    tile[t] = value;
    if (value % 2) {
        value += n;
        out[i] = value;
        if (value % 3 == 0) return;
        atomicAdd(&tile[t], value / 2);
    }
    __syncthreads();
    out[i] = tile[blockDim.x - 1 - t] + value;
}

/// Whether the loop with barriers goes on depends on what the threads that are left have read.
__global__ void exit_shared_condition(unsigned *out, const unsigned *x, unsigned n) {
    __shared__ unsigned done;
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t, value = x[i], rounds = 0;
    if (t == 0) done = 0;
    __syncthreads();
    if (value % 4 == n) return;
    while (done < 5) {
        __syncthreads();
        value = value * 3 + 1;
        atomicMax(&done, value % 2 + rounds);
        rounds++;
        __syncthreads();
    }
    out[i] = value + rounds;
}
