// The kernel `transpose` of tests/conformance/kernels/shared.rs in CUDA C++.
extern "C" __global__ void transpose(unsigned columns, const float *__restrict__ x, size_t x_len, float *y, size_t y_len) {
    __shared__ float tile[16][17];
    unsigned rows = gridDim.y * 16;
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    unsigned source = (blockIdx.y * 16 + ty) * columns + blockIdx.x * 16 + tx;
    unsigned target = (blockIdx.x * 16 + ty) * rows + blockIdx.y * 16 + tx;
    tile[ty][tx] = x[source];
    __syncthreads();
    y[target] = tile[tx][ty];
}
