// Shifts by more bits than a number has, which NVIDIA's devices define and C++ does not.

typedef long long wide;
typedef unsigned long long uwide;

#define INDEX unsigned i = blockIdx.x * blockDim.x + threadIdx.x

// An amount of each thread's own.
#define EACH(NAME, TYPE, UNSIGNED)                                                                                     \
    extern "C" __global__ void NAME(uwide *out, const uwide *x, const unsigned *by) {                                  \
        INDEX;                                                                                                         \
        out[2 * i] = (UNSIGNED)((TYPE)x[i] << by[i]);                                                                  \
        out[2 * i + 1] = (UNSIGNED)((TYPE)x[i] >> by[i]);                                                              \
    }
EACH(words, int, unsigned)
EACH(uwords, unsigned, unsigned)
EACH(wides, wide, uwide)
EACH(uwides, uwide, uwide)

// One amount for all threads, and numbers that all threads share.
#define ALL(NAME, TYPE, UNSIGNED)                                                                                      \
    extern "C" __global__ void NAME(uwide *out, const uwide *x, unsigned by, TYPE shared) {                            \
        INDEX;                                                                                                         \
        out[2 * i] = (UNSIGNED)(((TYPE)x[i] << by) + (shared << by));                                                  \
        out[2 * i + 1] = (UNSIGNED)(((TYPE)x[i] >> by) + (shared >> by));                                              \
    }
ALL(words_by, int, unsigned)
ALL(uwides_by, uwide, uwide)

// The threads of a warp wait by themselves, so each is a coroutine.
extern "C" __global__ void waits(uwide *out, const uwide *x, const unsigned *by) {
    INDEX;
    for (unsigned turn = 0; turn <= x[i] % 3; turn++)
        if (turn == 1) __syncwarp(1u << (threadIdx.x & 31));
    out[2 * i] = (unsigned)((int)x[i] << by[i]);
    out[2 * i + 1] = (unsigned)((int)x[i] >> by[i]);
}
