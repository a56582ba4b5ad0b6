// Functions of the mathematical library.
extern "C" __global__ void math(const float* in, float* out, const double* d, double* o) {
    int i = threadIdx.x;
    float x = in[i];
    out[i * 4] = sinf(x) + expf(x * .1f);
    out[i * 4 + 1] = powf(fabsf(x) + .5f, 1.7f);
    out[i * 4 + 2] = rsqrtf(fabsf(x) + 1) + tanhf(x);
    out[i * 4 + 3] = logf(fabsf(x) + 1e-3f) + cbrtf(x);
    double y = d[i];
    o[i * 2] = sin(y) + exp(y * .1);
    o[i * 2 + 1] = log(fabs(y) + 1e-3) / sqrt(fabs(y) + 1);
}
