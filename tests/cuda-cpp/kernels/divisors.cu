// Divisions that have no result, beside others: by zero, and of the least number by -1. Each kernel writes what it computes for
// the threads whose word of `skip` is 0, and ones for all others; every thread divides.

typedef long long wide;
typedef unsigned long long uwide;

#define INDEX unsigned i = blockIdx.x * blockDim.x + threadIdx.x
#define BOTH(TYPE, x, y) ((TYPE)(x) / (TYPE)(y) + 3 * ((TYPE)(x) % (TYPE)(y)))

// A divisor of each thread's own.
#define EACH(NAME, TYPE)                                                                                               \
    extern "C" __global__ void NAME(uwide *out, const uwide *x, const uwide *y, const uwide *skip) {                   \
        INDEX;                                                                                                         \
        out[i] = (uwide)BOTH(TYPE, x[i], y[i]) | skip[i];                                                              \
    }
EACH(bytes, signed char)
EACH(shorts, unsigned short)
EACH(words, int)
EACH(uwords, unsigned)
EACH(wides, wide)
EACH(uwides, uwide)

// One divisor for all threads.
#define ALL(NAME, TYPE)                                                                                                \
    extern "C" __global__ void NAME(uwide *out, const uwide *x, const uwide *skip, TYPE by) {                          \
        INDEX;                                                                                                         \
        out[i] = (uwide)BOTH(TYPE, x[i], by) | skip[i];                                                                \
    }
ALL(words_by, int)
ALL(uwides_by, uwide)

// A quotient that all threads share.
extern "C" __global__ void uniform(uwide *out, const uwide *skip, int a, int b) {
    INDEX;
    out[i] = (uwide)BOTH(int, a, b) | skip[i];
}

// The threads of a block wait in a branch that some take, so each is a coroutine.
extern "C" __global__ void waits(uwide *out, const uwide *x, const uwide *y, const uwide *skip) {
    INDEX;
    for (unsigned turn = 0; turn <= x[i] % 3; turn++)
        if (turn == 1) __syncwarp(1u << (threadIdx.x & 31));
    out[i] = (uwide)BOTH(int, x[i], y[i]) | skip[i];
}
