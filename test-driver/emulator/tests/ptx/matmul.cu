// Product of n by n matrices in tiles of 16, n a multiple of 16.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float l[16][16], r[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float s = 0;
#pragma unroll 1
    for (int k = 0; k < n; k += 16) {
        l[ty][tx] = a[row * n + k + tx];
        r[ty][tx] = b[(k + ty) * n + col];
        __syncthreads();
        for (int j = 0; j < 16; j++) s += l[ty][j] * r[j][tx];
        __syncthreads();
    }
    c[row * n + col] = s;
}
