// Kernels whose neighbouring blocks may be run as one, and kernels whose blocks may not.

/// Blocks along x, with threads that leave early.
__global__ void line(unsigned *out, const unsigned *x, unsigned count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (int)count - 3) return;
    out[i] = x[i] + 3 * x[i + 1] - x[i + 3];
}

/// Indices of 64 bits, and a loop that takes a different number of iterations in each thread.
__global__ void wide_line(unsigned *out, const unsigned *x, unsigned count) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned sum = 0;
    for (unsigned k = 0; k < i % 5; k++) sum += x[(i + k) % count] * (k + 1);
    out[i] = sum;
}

/// A grid-stride loop, and numbers that wrap.
__global__ void strides(unsigned *out, const unsigned *x, unsigned count) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        out[i] = x[i] * 2654435761u + i * i * 40503u;
}

/// What is subtracted from the start of the block, and what is added to it.
__global__ void shifted(unsigned *out, const unsigned *x, unsigned count) {
    int i = (int)(blockIdx.x * blockDim.x) - 2 + (int)threadIdx.x;
    unsigned j = blockIdx.x * blockDim.x + (count - 1) + threadIdx.x;
    if (i >= 0 && i + 2 < (int)count) out[i] = x[i] - x[j % count];
}

/// Rows along x.
__global__ void rows(unsigned *out, const unsigned *x, unsigned count) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned width = gridDim.x * blockDim.x, at = row * width + column;
    if (at >= count) return;
    out[at] = x[at] + (column > 0 ? x[at - 1] : 7) + (row > 0 ? x[at - width] : 9);
}

/// Rows along y, as an elimination has them.
__global__ void columns(unsigned *out, const unsigned *x, unsigned count) {
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned width = gridDim.y * blockDim.y, at = row * width + column;
    if (at >= count) return;
    out[at] = x[at] - x[row * width] * x[column];
    if (column == 0) out[at] += 1;
}

/// Three dimensions: along z every index is used as it likes.
__global__ void solid(unsigned *out, const unsigned *x, unsigned count) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
    unsigned plane = threadIdx.z * gridDim.z + blockIdx.z, at = (plane * height + row) * width + column;
    if (at >= count) return;
    out[at] = x[at] * (threadIdx.z + 2) + blockIdx.z + row;
}

/// Counters, whose results nobody waits for.
__global__ void counters(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(&out[x[i] % count], i);
}

/// A thread that ends the launch.
__global__ void traps(unsigned *out, const unsigned *x, unsigned count) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned at = row * (gridDim.x * blockDim.x) + column;
    if (at >= count) return;
    if (x[at] == 0) __trap();
    out[at] = x[at] / 3;
}

/// The same, with vectors along y.
__global__ void column_traps(unsigned *out, const unsigned *x, unsigned count) {
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned at = row * (gridDim.y * blockDim.y) + column;
    if (at >= count) return;
    if (x[at] == 0) __trap();
    out[at] = x[at] / 3 + x[row * (gridDim.y * blockDim.y)] + x[column];
}

__global__ void uses_thread(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = x[i] + threadIdx.x;
}

__global__ void uses_block(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = x[blockIdx.x] + i;
}

__global__ void uses_block_size(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = x[i] + blockDim.x;
}

__global__ void uses_grid_size(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = x[i] + gridDim.x;
}

/// Right in blocks of eight threads alone.
__global__ void constant_size(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * 8 + threadIdx.x;
    if (i < count) out[i] = x[i] + 1;
}

/// The number of the block from the end.
__global__ void backwards(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = (gridDim.x - 1 - blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) out[i] = x[i] + i;
}

/// Neighbouring threads of blocks side by side.
__global__ void dealt(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = threadIdx.x * gridDim.x + blockIdx.x;
    if (i < count) out[i] = x[i] + i;
}

/// A product of sixteen bits wraps.
__global__ void short_product(unsigned *out, const unsigned *x, unsigned count) {
    unsigned short start = (unsigned short)blockIdx.x * (unsigned short)blockDim.x;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = x[i] + start;
}

/// A number of the whole grid, but of two axes.
__global__ void mixed_axes(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * blockDim.y + threadIdx.x;
    if (i < count) out[i] = x[i] + blockDim.x;
}

/// A sum that is signed, and may overflow before the start of the block is added, with larger blocks.
__global__ void signed_sum(unsigned *out, const unsigned *x, unsigned count, int from) {
    int t = (int)threadIdx.x + from;
    long long i = (long long)t + (long long)(blockIdx.x * blockDim.x);
    if (i - from < count) out[i - from] = x[i - from] + 1;
}

__global__ void shares(unsigned *out, const unsigned *x, unsigned count) {
    __shared__ unsigned first[32];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    first[i % 32] = x[i];
    if (i < count) out[i] = first[i % 32] + 1;
}

extern __shared__ unsigned dynamic[];
__global__ void shares_dynamic(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    dynamic[i % 8] = x[i];
    if (i < count) out[i] = dynamic[i % 8] + 1;
}

__global__ void waits(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    __syncthreads();
    if (i < count) out[i] = x[i] + 1;
}

__global__ void shuffles(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned other = __shfl_xor_sync(0xffffffffu, x[i], 1);
    if (i < count) out[i] = other;
}

__global__ void lanes(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    if (i < count) out[i] = x[i] + lane;
}

__global__ void __launch_bounds__(64) bounded(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = x[i] + 1;
}

__global__ void tickets(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && x[i] % 2) out[1 + atomicAdd(out, 1) % (count - 1)] = x[i];
}

__global__ void watches(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = *(const volatile unsigned *)(x + i) + 1;
}

__global__ void fences(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = x[i] + 1;
    __threadfence();
    if (i < count) out[i] += x[0];
}

__noinline__ __device__ unsigned descend(unsigned of, const unsigned *x) {
    return of < 2 ? of + blockIdx.x : descend(of / 2, x) + descend(of - 2, x) + x[of % 4];
}
__global__ void recursive(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = descend(i % 9, x);
}

__global__ void prints(unsigned *out, const unsigned *x, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = x[i] + 1;
    if (i == 1u << 30) printf("%u\n", i);
}
