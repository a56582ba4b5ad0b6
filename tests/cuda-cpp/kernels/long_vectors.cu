// Kernels that compute little for each thread, of which four vectors are run at once, and kernels of which they are not. Each writes
// an element for some of `n` threads along x; `from` is where they begin, or what is added.

typedef unsigned long long wide;

#define KERNEL(name) extern "C" __global__ void name(unsigned *out, const unsigned *in, unsigned n, unsigned from)
#define INDEX unsigned i = blockIdx.x * blockDim.x + threadIdx.x

KERNEL(copied) {
    INDEX;
    if (i < n) out[i] = in[i];
}

// A border on both sides, at which the threads of a vector differ.
KERNEL(inner) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > (int)(from % 128) && i < (int)n - 1) out[i] = in[i - 1] + in[i] * 3 + in[i + 1];
}

// What is read is what the same thread writes, and one element for all.
KERNEL(in_place) {
    INDEX;
    if (i < n) out[i] = out[i] * 5 + in[0];
}

KERNEL(wide_numbers) {
    INDEX;
    if (i < n / 2) ((wide *)out)[i] = ((const wide *)in)[i] * 3 + from;
}

KERNEL(bytes) {
    INDEX;
    if (i < n) ((unsigned char *)out)[i] = ((const unsigned char *)in)[i] ^ (unsigned char)from;
}

// The index wraps between two threads where `from` is negative.
KERNEL(wrapped) {
    INDEX;
    unsigned j = i + from;
    if (j < n) out[i] = in[j];
}

// Rows of a plane whose width is that of the grid.
KERNEL(plane) {
    INDEX;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y, width = blockDim.x * gridDim.x;
    if (i >= from && i < width - 1 && y < n / width) out[y * width + i] = in[y * width + i + 1];
}

KERNEL(chosen) {
    INDEX;
    if (i < n) out[i] = in[i] & 4 ? from : in[i] >> 1;
}

// Some threads read what others do not.
KERNEL(read_apart) {
    INDEX;
    unsigned line = from % 100 + 1;
    if (i < n) out[i] = i % line >= in[i / line] % 64 ? 7 : in[i];
}

// They divide there too, so that it would have to be asked under a mask whether all quotients are equal.
KERNEL(refused_read_by_quotient) {
    INDEX;
    unsigned line = from % 100 + 1, other = n % 50 + 65;
    if (i < n) out[i] = i % line >= in[i / line] % 64 ? 7 : in[i / other];
}

#define STEP blockDim.x * gridDim.x

// Loops over the grid, which most blocks leave after one iteration.
KERNEL(over_grid) {
    INDEX;
    for (; i < n; i += STEP) out[i] = in[i] * 3 + from;
}

KERNEL(over_grid_signed) {
    int count = (int)n;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += STEP) out[i] = in[i] - from;
}

KERNEL(over_grid_wide) {
    for (wide i = (wide)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (wide)STEP) out[i] = in[i] ^ from;
}

// The index wraps between two threads where `from` is negative.
KERNEL(over_grid_wrapped) {
    INDEX;
    for (i += from; i < n; i += STEP) out[i] = in[i];
}

// The same, where threads that have no element may have one in the next iteration, and the first thread none.
KERNEL(over_grid_at_least_once) {
    INDEX;
    i += from;
    do {
        if (i < n) out[i] = in[i];
        i += STEP;
    } while (i < n);
}

KERNEL(over_grid_read_apart) {
    INDEX;
    unsigned line = from % 100 + 1;
    for (; i < n; i += STEP) out[i] = i % line >= in[i / line] % 64 ? 7 : in[i];
}

// What is left of the loop is used behind it.
KERNEL(over_grid_summed) {
    INDEX;
    unsigned own = i, sum = from;
    for (; i < n; i += STEP) sum = sum * 3 + in[i];
    out[own] = sum;
}

// Threads leave in the middle of an iteration, for which they choose what is written.
KERNEL(over_grid_until) {
    INDEX;
    for (; i < n; i += STEP) {
        out[i] = in[i];
        if (in[i] % 7 == from % 7) break;
        out[i] = from;
    }
}

// Two loops, of which the second may have more iterations.
KERNEL(refused_over_grid_twice) {
    INDEX;
    for (unsigned j = i + n / 4 * 3; j < n; j += STEP) out[j] = in[j] + from;
    for (; i < n / 4 * 3; i += STEP) out[i] = in[i] * 5;
}

// Of these every block takes several iterations, or it is not known how many.
KERNEL(refused_over_block) {
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i];
}

KERNEL(refused_over_grid_read) {
    INDEX;
    for (; i < in[0] % (n + 1); i += STEP) out[i] = in[i];
}

KERNEL(refused_over_grid_barrier) {
    __shared__ unsigned first;
    INDEX;
    if (threadIdx.x == 0) first = in[blockIdx.x];
    __syncthreads();
    for (; i < n; i += STEP) out[i] = in[i] + from;
    if (first == 3) out[n] = 3;
}

KERNEL(refused_loop) {
    INDEX;
    unsigned sum = 0;
    for (unsigned k = 0; k < from; k++) sum = sum * 3 + in[k];
    if (i < n) out[i] = sum + i;
}

KERNEL(refused_gather) {
    INDEX;
    if (i < n) out[i] = in[in[i] % n];
}

KERNEL(refused_steps) {
    INDEX;
    if (i < n / 2) out[2 * i] = in[i];
}

KERNEL(refused_branch) {
    INDEX;
    if (i < n && in[i] % 2) out[i] = in[i] + from;
}

KERNEL(refused_volatile) {
    INDEX;
    if (i < n) ((volatile unsigned *)out)[i] = in[i];
}

KERNEL(refused_atomic) {
    INDEX;
    if (i < n) atomicAdd(&out[in[i] % n], from);
}

// Nothing is written that others can see but by a barrier's other side.
KERNEL(refused_barrier) {
    __shared__ unsigned first;
    INDEX;
    if (threadIdx.x == 0) first = in[blockIdx.x];
    __syncthreads();
    if (i < n) out[i] = in[i] + first;
}

// More than the registers hold.
KERNEL(refused_long) {
    INDEX;
    if (i >= n) return;
    unsigned a = in[i], b = a * a + from;
    for (int k = 0; k < 8; k++) {
        a = (a ^ (b >> 3)) * 5;
        b = (b + a) ^ (a << 7);
    }
    out[i] = a ^ b;
}
