// Threads with arrays of their own, whose indices are the same for all threads.

// The product of two matrices of 4 by 4, by columns.
__device__ void multiply(const float *a, const float *b, float *out) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            float sum = 0;
            for (int k = 0; k < 4; k++) sum += a[i + 4 * k] * b[k + 4 * j];
            out[i + 4 * j] = sum;
        }
}

__global__ void matrix_powers(float *out, const float *x, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float base[16], power[16], next[16];
    for (int k = 0; k < 16; k++) base[k] = power[k] = x[16 * i + k];
    for (int step = 0; step < steps; step++) {
        multiply(base, power, next);
        for (int k = 0; k < 16; k++) power[k] = 0.5f * next[k];
    }
    for (int k = 0; k < 16; k++) out[16 * i + k] = power[k];
}

// The median of the neighbours in a window.
__global__ void medians(float *out, const float *x, int width, int height) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < 2 || row < 2 || column >= width - 2 || row >= height - 2) return;
    float window[25];
    for (int dy = 0; dy < 5; dy++)
        for (int dx = 0; dx < 5; dx++) window[5 * dy + dx] = x[(row + dy - 2) * width + column + dx - 2];
    for (int i = 0; i < 13; i++)
        for (int j = i + 1; j < 25; j++)
            if (window[j] < window[i]) {
                float lower = window[j];
                window[j] = window[i];
                window[i] = lower;
            }
    out[row * width + column] = window[12];
}

// How often each of sixteen values occurs among a thread's own.
__global__ void own_histogram(int *out, const int *x, int each, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int counts[16] = {0};
    for (int k = 0; k < each; k++) counts[x[k * n + i] & 15]++;
    for (int k = 0; k < 16; k++) out[k * n + i] = counts[k];
}

// Values of a polynomial that each thread has its own coefficients of, by differences.
__global__ void differences(float *out, const float *x, int order, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float terms[12] = {0};
    for (int k = 0; k <= order; k++) terms[k] = x[k * n + i];
    for (int step = 0; step < steps; step++)
        for (int k = 0; k < order; k++) terms[k] = 0.75f * terms[k] + 0.25f * terms[k + 1];
    out[i] = terms[0];
}
