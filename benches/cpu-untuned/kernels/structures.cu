// Structures in a row.

struct Point { float x, y, z; };

extern "C" __global__ void lengths(float *out, const Point *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sqrtf(in[i].x * in[i].x + in[i].y * in[i].y + in[i].z * in[i].z);
}

extern "C" __global__ void energies(float *out, const float4 *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { float4 p = in[i]; out[i] = 0.5f * p.w * (p.x * p.x + p.y * p.y + p.z * p.z); }
}

extern "C" __global__ void gray(unsigned char *out, const unsigned char *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (77 * in[3 * i] + 150 * in[3 * i + 1] + 29 * in[3 * i + 2]) >> 8;
}

extern "C" __global__ void complex_products(float2 *out, const float2 *a, const float2 *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float2 p = a[i], q = b[i];
        out[i] = make_float2(p.x * q.x - p.y * q.y, p.x * q.y + p.y * q.x);
    }
}

extern "C" __global__ void attractions(float4 *out, const float4 *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 own = in[i];
    float x = 0, y = 0, z = 0;
    for (int j = 0; j < n; j++) {
        float dx = in[j].x - own.x, dy = in[j].y - own.y, dz = in[j].z - own.z;
        float inverse = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        float strength = in[j].w * inverse * inverse * inverse;
        x += dx * strength; y += dy * strength; z += dz * strength;
    }
    out[i] = make_float4(x, y, z, 0);
}
