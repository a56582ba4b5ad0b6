// Kernels with barriers in blocks of two and three dimensions, of rows of 16 threads and others.

#define COUNT (blockDim.x * blockDim.y * blockDim.z)
#define THREAD ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)
#define PLACE unsigned t = THREAD, count = COUNT, i = blockIdx.x * count + t

// Each thread reads what others wrote, in its row and in others.
extern "C" __global__ void exchanged(unsigned *out, const unsigned *in, unsigned n) {
    __shared__ unsigned tile[1024];
    PLACE;
    tile[t] = in[i] * 3 + threadIdx.y;
    __syncthreads();
    unsigned other = tile[(t + n) % count];
    if (threadIdx.x == 0 || threadIdx.x == n) other += tile[count - 1 - t];
    if (threadIdx.x + 1 < blockDim.x) other ^= tile[t + 1];
    out[i] = other;
}

// Sums of rows by one thread of each, and of these by the first thread.
extern "C" __global__ void sums(unsigned *out, const unsigned *in, unsigned n) {
    __shared__ unsigned tile[1024];
    __shared__ unsigned rows[1024];
    PLACE;
    tile[t] = in[i] + n;
    __syncthreads();
    unsigned line = threadIdx.z * blockDim.y + threadIdx.y, own = 0;
    for (unsigned k = 0; k < blockDim.x; k++) own += tile[line * blockDim.x + k] * (k + 1);
    if (threadIdx.x == blockDim.x / 2) rows[line] = own ^ threadIdx.x;
    __syncthreads();
    out[i] = rows[(line + 1) % (blockDim.y * blockDim.z)] + own;
}

// Shuffles and votes of all threads, across rows.
extern "C" __global__ void warps(unsigned *out, const unsigned *in, unsigned n) {
    PLACE;
    unsigned v = in[i];
    v += __shfl_down_sync(0xffffffff, v, n & 31);
    v += __shfl_up_sync(0xffffffff, v, 3);
    v ^= __shfl_xor_sync(0xffffffff, v, 8);
    v += __shfl_sync(0xffffffff, v, (t + n) & 31);
    out[i] = v + __ballot_sync(0xffffffff, v & 1);
}

// Warps in the middle of the block go a way of their own.
extern "C" __global__ void some_warps(unsigned *out, const unsigned *in, unsigned n) {
    __shared__ unsigned tile[1024];
    PLACE;
    unsigned v = in[i];
    if (t / 32 == n % 8 || t / 32 == n % 8 + 1) {
        v += __shfl_xor_sync(0xffffffff, v, 1);
        v = v * 5 + threadIdx.x;
        v += __shfl_down_sync(0xffffffff, v, 2);
    }
    tile[t] = v;
    __syncthreads();
    out[i] = tile[count - 1 - t];
}

// Some rows and columns are left before the barrier.
extern "C" __global__ void fewer(unsigned *out, const unsigned *in, unsigned n) {
    __shared__ unsigned tile[1024];
    PLACE;
    if (threadIdx.y < n % 4 || threadIdx.x > n) return;
    tile[t] = in[i];
    __syncthreads();
    bool has = threadIdx.y + 1 < blockDim.y;
    out[i] = tile[has ? t + blockDim.x : t] + threadIdx.z;
}

// The same without a barrier: no rows of their own.
extern "C" __global__ void alone(unsigned *out, const unsigned *in, unsigned n) {
    PLACE;
    out[i] = in[i] + n * threadIdx.y;
}

// And in one dimension.
extern "C" __global__ void line(unsigned *out, const unsigned *in, unsigned n) {
    __shared__ unsigned tile[1024];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = tile[blockDim.x - 1 - threadIdx.x] + n;
}
