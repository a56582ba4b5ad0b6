// examples/saxpy/kernels/saxpy.rs in CUDA C++.
extern "C" __global__ void saxpy(float a, const float *__restrict__ x, size_t x_len, float *y, size_t y_len) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < y_len) {
        y[i] += a * x[i];
    }
}
