// Elements that are two or three apart from thread to thread, under conditions and with indices that may wrap. Each kernel
// writes a word for each of `n` threads, and reads up to three for each; `by` is uniform.

#define KERNEL(name) extern "C" __global__ void name(unsigned *out, const unsigned *in, unsigned n, unsigned by)
#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x

// A vector at the start lacks some of its threads.
KERNEL(behind) {
    INDEX;
    if (i >= n) return;
    int d = by;
    unsigned sum = 7;
    if (2 * i >= d) sum = in[2 * i - d] * 3 + in[2 * i + 1 - d];
    out[i] = sum;
}

// Threads are there as the data says: all of a vector, some, or none.
KERNEL(by_data) {
    INDEX;
    if (i >= n) return;
    unsigned sum = in[i];
    if (sum % (by + 1) == 0) sum += in[3 * i] * 5 + in[3 * i + 1] * 7 + in[3 * i + 2];
    out[i] = sum;
}

// Bytes, and half words.
KERNEL(narrow) {
    INDEX;
    if (i >= n) return;
    const unsigned char *bytes = (const unsigned char *)in;
    const unsigned short *halves = (const unsigned short *)in;
    unsigned sum = 0;
    if (i % (by + 1)) sum = bytes[2 * i] + bytes[2 * i + 1] * 256u;
    if (i > (int)by) sum += halves[3 * i] ^ halves[3 * i + 2] << 3;
    out[i] = sum;
}

// Indices of 16 bits wrap within a vector, each where it is.
KERNEL(wraps) {
    INDEX;
    if (i >= n) return;
    unsigned short first = 2 * i - 4 * by, second = 2 * i + 1 - 4 * by;
    unsigned sum = 0;
    if (first < 3 * n) sum = in[first];
    if (second < 3 * n) sum += in[second] * 3;
    out[i] = sum;
}

// What is between two reads may change what the second one reads.
KERNEL(changed) {
    INDEX;
    if (i >= n) return;
    __shared__ unsigned both[2048];
    int t = threadIdx.x;
    both[2 * t] = in[i];
    both[2 * t + 1] = in[i + 1];
    __syncthreads();
    unsigned sum = 0;
    if (t > (int)by) {
        sum = both[2 * t];
        both[2 * t + 1] = sum + 1;
        sum = sum * 31 + both[2 * t + 1];
    }
    out[i] = sum;
}

// A scan of two elements a thread.
KERNEL(scan) {
    __shared__ unsigned sums[2048];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    sums[2 * t] = i < n ? in[2 * i] : by;
    sums[2 * t + 1] = i < n ? in[2 * i + 1] : by;
    __syncthreads();
    unsigned a = sums[0], b = a + sums[1];
    for (int step = 1; step < 2 * blockDim.x; step *= 2) {
        if (2 * t >= step) {
            a = sums[2 * t - step] + sums[2 * t];
            b = sums[2 * t + 1 - step] + sums[2 * t + 1];
        }
        __syncthreads();
        sums[2 * t] = a;
        sums[2 * t + 1] = b;
        __syncthreads();
    }
    if (i < n) out[i] = a * 3 + b;
}

// Writes of both halves whose order is that of the code, some of them by every thread.
KERNEL(written) {
    __shared__ unsigned both[2048];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    both[2 * t + 1] = i * 3;
    both[2 * t] = i < n ? in[i] : by;
    __syncthreads();
    if (t < (int)by) {
        both[2 * t] += t;
        both[2 * t + 1] += 2 * t;
    }
    __syncthreads();
    int other = 2 * (blockDim.x - 1 - t);
    if (i < n) out[i] = both[other] * 3 + both[other + 1];
}
