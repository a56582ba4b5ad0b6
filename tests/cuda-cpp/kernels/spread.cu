// Stores of elements that are a few of them apart, and stores of many threads to one address.

#define PLACE int i = blockIdx.x * blockDim.x + threadIdx.x

struct Three { unsigned char a, b, c; };

// Structures that some threads write.
extern "C" __global__ void pairs(unsigned *out, const unsigned *in, int n) {
    PLACE;
    if (in[i] & 1) {
        out[2 * i + 1] = in[i] * 3;
        out[2 * i] = in[i] + n;
    }
}

extern "C" __global__ void colours(Three *out, const unsigned *in, int n) {
    PLACE;
    unsigned v = in[i] + n;
    if (v & 2) out[i] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16)};
}

extern "C" __global__ void longs(ulonglong2 *out, const unsigned *in, int n) {
    PLACE;
    if (in[i] % 3 != 0) out[i] = make_ulonglong2(in[i] * 0x123456789ull, n);
}

extern "C" __global__ void quads(uint4 *out, const unsigned *in, int n) {
    PLACE;
    if (i >= n) out[i] = make_uint4(in[i], in[i] + 1, in[i] * 3, i);
}

// One field, in every thread and in some.
extern "C" __global__ void second(unsigned *out, const unsigned *in, int n) {
    PLACE;
    out[2 * i + 1] = in[i] + n;
}

extern "C" __global__ void third(unsigned *out, const unsigned *in, int n) {
    PLACE;
    if (in[i] & 1) out[3 * i] = in[i] + n;
}

extern "C" __global__ void fourth(unsigned char *out, const unsigned *in, int n) {
    PLACE;
    if (i != n) out[4 * i + 3] = in[i];
}

extern "C" __global__ void halves(double *out, const unsigned *in, int n) {
    PLACE;
    if (in[i] & 2) out[2 * i] = in[i] & 1023;
}

// Further apart than rows pay, and the other way round.
extern "C" __global__ void fifth(unsigned *out, const unsigned *in, int n) {
    PLACE;
    if (in[i] & 1) out[5 * i + 2] = in[i] + n;
}

extern "C" __global__ void backwards(unsigned *out, const unsigned *in, int n) {
    PLACE;
    out[2 * (gridDim.x * blockDim.x - 1 - i)] = in[i] + n;
}

// What is read between the stores is of another array.
extern "C" __global__ void shifted(unsigned *__restrict__ out, const unsigned *__restrict__ in, int n) {
    PLACE;
    out[2 * i] = in[i];
    out[2 * i + 1] = in[i ^ (n & 1)] + 1;
}

// What is read between the stores is what they wrote.
extern "C" __global__ void read_back(unsigned *__restrict__ out, const unsigned *__restrict__ in, int n) {
    PLACE;
    out[2 * i] = in[i];
    unsigned other = out[2 * i + (n & 1)];
    out[2 * i + 1] = other + 1;
}

// Through shared memory, each thread two elements, and back by another distance.
extern "C" __global__ void neighbours(unsigned *__restrict__ out, const unsigned *__restrict__ in, int n) {
    __shared__ unsigned s[512];
    int t = threadIdx.x, start = 2 * blockIdx.x * blockDim.x;
    s[2 * t] = in[start + t];
    s[2 * t + 1] = in[start + blockDim.x + t];
    __syncthreads();
    if (t == 0) {
        out[start] = n;
        out[start + 1] = s[0];
    } else {
        out[start + 2 * t] = s[2 * t - 1];
        out[start + 2 * t + 1] = s[2 * t];
    }
}

// One thread of a row writes what only it knows.
extern "C" __global__ void chosen(unsigned *out, const unsigned *in, int n) {
    PLACE;
    if (threadIdx.x == n % blockDim.x) out[blockIdx.x] = in[i] * 5 + i;
}

// The same by an address that a loop changes.
extern "C" __global__ void in_turns(unsigned *out, const unsigned *in, int n) {
    PLACE;
    for (int k = 0; k < 8; k++)
        if (threadIdx.x == (n + k) % blockDim.x) out[8 * blockIdx.x + k] = in[i] + k;
}

// All threads write what is the same, which nobody knows before.
extern "C" __global__ void agreed(unsigned *out, const unsigned *in, int n) {
    PLACE;
    unsigned v = in[i], none = (v * (v + 1)) & 1;
    out[blockIdx.x] = none + n;
    if (v & 2) out[gridDim.x + blockIdx.x] = none + n + 1;
}

// Some threads read their fields; what the others would read is not there.
extern "C" __global__ void read_pairs(unsigned *out, const unsigned *in, int n) {
    PLACE;
    if ((in[i] + n) & 1) out[i] = in[2 * i] * 3 ^ in[2 * i + 1];
}

extern "C" __global__ void read_thirds(unsigned *out, const unsigned *in, int n) {
    PLACE;
    if (3 * i + 2 < 2 * (int)(gridDim.x * blockDim.x) && i != n) out[i] = in[3 * i] + in[3 * i + 2];
}

extern "C" __global__ void read_ends(unsigned char *out, const unsigned char *in, int n) {
    PLACE;
    if (i >= n) out[i] = in[4 * i + 3];
}

// A distance that a parameter says: where it wraps, threads read nothing.
extern "C" __global__ void read_before(unsigned *out, const unsigned *in, unsigned n) {
    PLACE;
    if (2 * (unsigned)i >= n) out[i] = in[2 * (unsigned)i - n] + in[2 * (unsigned)i];
}
