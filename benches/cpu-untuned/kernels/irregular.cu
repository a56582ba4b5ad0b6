// Elements that other elements name, or that differ in how many there are.

extern "C" __global__ void sparse_product(float *out, const int *starts, const int *columns, const float *values, const float *x, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * x[columns[k]];
    out[row] = sum;
}

// Which nodes are reached next in a graph, from those that are marked.
extern "C" __global__ void reach(char *next, const int *starts, const int *targets, const char *marked, const char *seen, int n) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n || !marked[node]) return;
    for (int k = starts[node]; k < starts[node + 1]; k++)
        if (!seen[targets[k]]) next[targets[k]] = 1;
}

extern "C" __global__ void search(int *out, const int *keys, const int *wanted, int n, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int low = 0, high = n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (keys[middle] < wanted[i]) low = middle + 1; else high = middle;
    }
    out[i] = low;
}

// One step of a sorting network.
extern "C" __global__ void exchange(int *x, int distance, int direction, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = i ^ distance;
    if (i >= n || j <= i) return;
    int a = x[i], b = x[j];
    bool up = (i & direction) == 0;
    if (up ? a > b : a < b) { x[i] = b; x[j] = a; }
}

// Sums of all elements before, in each block.
extern "C" __global__ void block_scan(int *out, const int *in, int n) {
    __shared__ int sums[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    sums[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        int before = t >= step ? sums[t - step] : 0;
        __syncthreads();
        sums[t] += before;
        __syncthreads();
    }
    if (i < n) out[i] = sums[t];
}

// The same with two elements for each thread.
extern "C" __global__ void pair_scan(int *out, const int *in, int n) {
    __shared__ int sums[512];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    sums[2 * t] = 2 * i < n ? in[2 * i] : 0;
    sums[2 * t + 1] = 2 * i + 1 < n ? in[2 * i + 1] : 0;
    __syncthreads();
    int a = sums[0], b = a + sums[1];
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
    if (2 * i < n) out[2 * i] = a;
    if (2 * i + 1 < n) out[2 * i + 1] = b;
}

// Sums in places of each thread's own, which the threads add to as if others did too.
extern "C" __global__ void atomic_sums(int *out, int each, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int k = i * each; k < (i + 1) * each; k++) atomicAdd(&out[i], k & 3);
}
