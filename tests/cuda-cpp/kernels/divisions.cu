// Quotients and remainders by a number that all threads share. Each kernel reads a number of 64 bits for each of `n` threads, of
// which some take the lower half, and writes two.

typedef unsigned long long wide;

#define KERNEL(name) extern "C" __global__ void name(wide *out, const wide *in, unsigned n, wide by)
#define INDEX unsigned i = blockIdx.x * blockDim.x + threadIdx.x
#define WRITE(TYPE) out[2 * i] = (wide)((TYPE)in[i] / (TYPE)by); out[2 * i + 1] = (wide)((TYPE)in[i] % (TYPE)by)

KERNEL(unsigned_words) {
    INDEX;
    if (i < n) { WRITE(unsigned); }
}

KERNEL(signed_words) {
    INDEX;
    if (i < n) { WRITE(int); }
}

KERNEL(unsigned_wide) {
    INDEX;
    if (i < n) { WRITE(wide); }
}

KERNEL(signed_wide) {
    INDEX;
    if (i < n) { WRITE(long long); }
}

// One of them alone, so that neither is computed from the other.
KERNEL(apart) {
    INDEX;
    if (i >= n) return;
    if (i % 3) out[2 * i] = in[i] / by; else out[2 * i] = in[i] % by;
    if (i % 5) out[2 * i + 1] = (long long)in[i] / (long long)by; else out[2 * i + 1] = (long long)in[i] % (long long)by;
}

// Nobody divides by zero, which is what comes after the numbers.
KERNEL(not_by_zero) {
    INDEX;
    if (i >= n) return;
    wide none = in[n];
    out[2 * i] = in[i] % 2 && none ? in[i] / none : in[i] / by;
    out[2 * i + 1] = in[i] % 2 && (unsigned)none ? (unsigned)in[i] % (unsigned)none : 7;
}

// Each thread divides by a number of its own, and not where that is zero.
KERNEL(own_divisors) {
    INDEX;
    if (i >= n) return;
    wide own = in[n - 1 - i], quotient = 7, rest = 9;
    if (own) {
        quotient = in[i] / own;
        rest = in[i] % own;
    }
    if ((long long)own > 0) {
        quotient ^= (long long)in[i] / (long long)own;
        rest ^= (long long)in[i] % (long long)own;
    }
    out[2 * i] = quotient;
    out[2 * i + 1] = rest;
}

// All threads divide by -1, but for those whose number has no negative.
KERNEL(but_the_least) {
    INDEX;
    if (i >= n) return;
    long long number = in[i], divisor = by;
    bool has_negative = number != (long long)(1ull << 63);
    out[2 * i] = has_negative ? number / divisor : 5;
    out[2 * i + 1] = has_negative ? number % divisor : 6;
}

// The coordinates of a number, with divisors in memory, of which some are larger than what they divide.
KERNEL(coordinates) {
    INDEX;
    if (i >= n) return;
    __shared__ wide sizes[4];
    if (threadIdx.x == 0) {
        sizes[0] = by * 7; sizes[1] = by; sizes[2] = 5; sizes[3] = 1;
    }
    __syncthreads();
    wide rest = i, sum = 0;
    for (unsigned k = 0; k < 4; k++) {
        sum = sum * 31 + rest / sizes[k];
        rest %= sizes[k];
    }
    out[2 * i] = sum;
    out[2 * i + 1] = in[i] / sizes[n % 4];
}
