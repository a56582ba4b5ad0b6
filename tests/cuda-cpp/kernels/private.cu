// Arrays of single threads, whose elements lie lane by lane in vectors where they are accessed as wholes.
// Each kernel writes eight words for each of `n` threads; `count` is 5, so that no loop is unrolled.

typedef unsigned long long wide;

#define KERNEL(name) extern "C" __global__ void name(unsigned *out, const unsigned *in, unsigned n, unsigned count)
#define INDEX unsigned i = blockIdx.x * blockDim.x + threadIdx.x
#define WRITE(value) for (unsigned k = 0; k < 8; k++) out[8 * i + k] = (value)

// The same index for all threads.
KERNEL(uniform) {
    INDEX;
    if (i >= n) return;
    unsigned a[8];
    for (unsigned k = 0; k < 8; k++) a[k] = in[8 * i + k];
    for (unsigned step = 0; step < count; step++)
        for (unsigned k = 0; k + 1 < 8; k++) a[k] = a[k] * 3 + a[k + 1];
    WRITE(a[k]);
}

// An index of each thread's own, and zeros to begin with.
KERNEL(own_index) {
    INDEX;
    if (i >= n) return;
    unsigned a[16] = {0};
    for (unsigned k = 0; k < count + 3; k++) a[in[8 * i + k] & 15] += k + 1;
    WRITE(a[k] + 16 * a[k + 8]);
}

// The thread's index is an index.
KERNEL(thread_index) {
    INDEX;
    if (i >= n) return;
    unsigned a[24] = {0};
    for (unsigned k = 0; k < count; k++) {
        a[threadIdx.x % 8 + k] = in[8 * i + k];
        a[threadIdx.x % 8 + k + 1] += k;
    }
    unsigned sum = 0;
    for (unsigned k = 0; k < 24; k++) sum = sum * 31 + a[k];
    WRITE(sum + a[threadIdx.x % 8 + k % 3]);
}

// It begins with constants.
KERNEL(constants) {
    INDEX;
    if (i >= n) return;
    unsigned a[11] = {5, 3, 8, 1, 9, 2, 7, 4, 6, 11, 10};
    for (unsigned k = 0; k < count; k++) a[(k * count) % 11] ^= in[8 * i + k];
    WRITE(a[k] + a[10 - k]);
}

// Bytes, half words and words of 64 bits.
KERNEL(bytes) {
    INDEX;
    if (i >= n) return;
    unsigned char a[40];
    for (unsigned k = 0; k < 40; k++) a[k] = in[8 * i + k % 8] + k;
    for (unsigned k = 0; k < 30 + count; k++) a[k] += a[k + 1] * 3;
    WRITE(a[k] | a[k + 32] << 8);
}

KERNEL(halves) {
    INDEX;
    if (i >= n) return;
    unsigned short a[20];
    for (unsigned k = 0; k < 20; k++) a[k] = in[8 * i + k % 8] * (k + 1);
    for (unsigned k = 0; k < 10 + count; k++) a[k] -= a[k + 2];
    WRITE(a[k] + (a[k + 12] << 3));
}

KERNEL(longs) {
    INDEX;
    if (i >= n) return;
    wide a[9];
    for (unsigned k = 0; k < 9; k++) a[k] = (wide)in[8 * i + k % 8] << (k + 5);
    for (unsigned step = 0; step < count; step++)
        for (unsigned k = 0; k < 8; k++) a[k] = a[k] * 5 + a[k + 1];
    WRITE((unsigned)(a[k] >> 17));
}

KERNEL(reals) {
    INDEX;
    if (i >= n) return;
    double a[10] = {0};
    for (unsigned k = 0; k < 8; k++) a[k] = in[8 * i + k] & 0xff;
    for (unsigned step = 0; step < count; step++)
        for (unsigned k = 0; k < 9; k++) a[k] = a[k] * 0.5 + a[k + 1];
    WRITE((unsigned)(a[k] * 16));
}

// Two dimensions, and an index of 32 bits with a sign.
KERNEL(matrix) {
    INDEX;
    if (i >= n) return;
    int a[4][6];
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 6; x++) a[y][x] = in[8 * i + (y + x) % 8] >> y;
    for (int step = 0; step < (int)count; step++)
        for (int y = 3; y > 0; y--)
            for (int x = 5; x >= 0; x--) a[y][x] += a[y - 1][(x + step) % 6];
    WRITE(a[k % 4][k % 6]);
}

// Only some threads write.
KERNEL(divergent) {
    INDEX;
    if (i >= n) return;
    unsigned a[8];
    for (unsigned k = 0; k < 8; k++) a[k] = in[8 * i + k];
    for (unsigned step = 0; step < count; step++) {
        if (in[8 * i + step] & 1) {
            for (unsigned k = 0; k < 7; k++) a[k] = a[k] + a[k + 1] * step;
        } else if (in[8 * i + step] & 2) {
            a[step] = 77;
        }
    }
    WRITE(a[k]);
}

// As often as each thread says.
KERNEL(own_count) {
    INDEX;
    if (i >= n) return;
    unsigned a[32] = {0};
    unsigned end = in[8 * i] % 29, k = 0;
    for (; k < end; k++) a[k] = k * in[8 * i + 1] + (k ? a[k - 1] : 0);
    WRITE(a[k * 3] + a[end]);
}

// An address that is of one of two arrays.
KERNEL(one_of_two) {
    INDEX;
    if (i >= n) return;
    unsigned a[8], b[8];
    for (unsigned k = 0; k < 8; k++) {
        a[k] = in[8 * i + k];
        b[k] = ~a[k];
    }
    unsigned *from = count > 4 ? a : b, *to = in[8 * i] & 1 ? a : b;
    for (unsigned k = 0; k < count; k++) to[k] += from[k + 1];
    WRITE(a[k] ^ (b[k] << 1));
}

// An address that is of the array or of memory of the program.
KERNEL(own_or_given) {
    INDEX;
    if (i >= n) return;
    unsigned a[8];
    for (unsigned k = 0; k < 8; k++) a[k] = in[8 * i + k] * 3;
    const unsigned *from = count > 4 ? a : in + 8 * i, *other = in[8 * i] & 1 ? a : in + 8 * i;
    for (unsigned k = 0; k < count; k++) a[k] += from[k + 1] ^ other[k + 2];
    WRITE(a[k]);
}

// It is exchanged with memory of the program in each iteration.
KERNEL(exchanged) {
    INDEX;
    if (i >= n) return;
    unsigned a[8];
    for (unsigned k = 0; k < 8; k++) a[k] = in[8 * i + k] ^ 0x55;
    const unsigned *from = a, *next = in + 8 * i;
    unsigned sum = 0;
    for (unsigned k = 0; k < count; k++) {
        sum = sum * 7 + from[k];
        const unsigned *swapped = from;
        from = next;
        next = swapped;
    }
    WRITE(a[k] + sum);
}

// Addresses that grow.
KERNEL(growing) {
    INDEX;
    if (i >= n) return;
    unsigned a[12];
    for (unsigned k = 0; k < 12; k++) a[k] = in[8 * i + k % 8];
    unsigned *at = a;
    for (unsigned step = 0; step < count; step++, at += 2) *at += at[1];
    WRITE(a[k] + a[11 - k]);
}

// Accesses of different sizes.
KERNEL(pieces) {
    INDEX;
    if (i >= n) return;
    unsigned a[8];
    for (unsigned k = 0; k < 8; k++) a[k] = in[8 * i + k];
    unsigned char *bytes = (unsigned char *)a;
    for (unsigned k = 0; k < 4 * count; k++) bytes[k] += bytes[k + 3];
    WRITE(a[k]);
}

// Structures, of fields of one size and of several.
struct Alike { unsigned x, y; };
struct Mixed { unsigned short x; wide y; };

KERNEL(alike) {
    INDEX;
    if (i >= n) return;
    Alike a[6] = {};
    for (unsigned k = 0; k < 6; k++) a[k].y = in[8 * i + k];
    for (unsigned k = 0; k < count; k++) a[k].x = a[k + 1].y + a[k].x;
    WRITE(a[k % 6].x + a[5 - k % 6].y);
}

KERNEL(mixed) {
    INDEX;
    if (i >= n) return;
    Mixed a[6] = {};
    for (unsigned k = 0; k < 6; k++) {
        a[k].x = in[8 * i + k];
        a[k].y = in[8 * i + k + 1];
    }
    for (unsigned k = 0; k < count; k++) a[k].x += a[k + 1].y;
    WRITE((unsigned)(a[k % 6].x + a[5 - k % 6].y));
}

// One array is copied to another.
KERNEL(copied) {
    INDEX;
    if (i >= n) return;
    Alike a[4], b[4];
    for (unsigned k = 0; k < 4; k++) a[k].x = in[8 * i + k], a[k].y = in[8 * i + 7 - k];
    for (unsigned step = 0; step < count; step++) {
        for (unsigned k = 0; k < 4; k++) b[k] = a[k];
        for (unsigned k = 0; k < 3; k++) a[k].x = b[k + 1].y * 3 + b[k].x, a[k + 1].y = b[k].x;
    }
    WRITE(a[k % 4].x ^ a[3 - k % 4].y);
}

// A function that is not inlined has the address.
__noinline__ __device__ unsigned reversed(unsigned *a, unsigned count) {
    unsigned sum = 0;
    for (unsigned k = 0; k < count; k++) {
        unsigned lower = a[k];
        a[k] = a[7 - k];
        a[7 - k] = lower + k;
        sum += lower;
    }
    return sum;
}

KERNEL(given_away) {
    INDEX;
    if (i >= n) return;
    unsigned a[8];
    for (unsigned k = 0; k < 8; k++) a[k] = in[8 * i + k];
    unsigned sum = reversed(a, count);
    WRITE(a[k] + sum);
}

// The array is there behind a barrier too.
KERNEL(behind_a_barrier) {
    __shared__ unsigned shared[128];
    INDEX;
    unsigned a[8] = {0};
    if (i < n)
        for (unsigned k = 0; k < 8; k++) a[k] = in[8 * i + k];
    for (unsigned step = 0; step < count; step++) {
        shared[threadIdx.x] = a[step];
        __syncthreads();
        unsigned other = shared[blockDim.x - 1 - threadIdx.x];
        for (unsigned k = 0; k < 7; k++) a[k] = a[k + 1] + other * k;
        __syncthreads();
    }
    if (i < n) WRITE(a[k]);
}

// Sorted, with a choice by what is there.
KERNEL(sorted) {
    INDEX;
    if (i >= n) return;
    unsigned a[8];
    for (unsigned k = 0; k < 8; k++) a[k] = in[8 * i + k];
    for (unsigned x = 0; x < 8; x++)
        for (unsigned y = x + 1; y < 8; y++)
            if (a[y] < a[x]) {
                unsigned lower = a[y];
                a[y] = a[x];
                a[x] = lower;
            }
    WRITE(a[(k + count) % 8]);
}
