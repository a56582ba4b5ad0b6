// Weighs each value with its neighbours.
extern "C" __global__ void stencil(const float* in, float* out, int n) {
    __shared__ float s[130];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t + 1] = in[i];
    if (t == 0) s[0] = i ? in[i - 1] : 0;
    if (t == 127) s[129] = i + 1 < n ? in[i + 1] : 0;
    __syncthreads();
    out[i] = 0.25f * s[t] + 0.5f * s[t + 1] + 0.25f * s[t + 2];
}
