// The kernels of cuda.rs, stored as PTX:
//     nvcc -ptx -G -arch=sm_75 cuda.cu -o cuda.ptx
// In /tmp/kernels, since debug information has the path. There is no cuda_fp16.h, whose functions
// would be many times as long.
struct __half { unsigned short bits; };

extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

extern "C" __global__ void halves(const __half* in, __half* self, __half by) { *self = *in; }

namespace filters {
enum Mode { Nearest, Linear = 5, Lowest = -70000 };
enum class Flags : unsigned char { None, type };
struct Add {};

struct Params {
    float scale;
    Mode mode;
    float4 color;
    struct { int left, right; } crop;
    bool masks[2][3];
};

template <typename T>
__global__ void __launch_bounds__(128) blur(Params params, const Params* more, Flags type, T* out) {
    *out = T(more->scale);
}
template __global__ void blur<float>(Params, const Params*, Flags, float*);
template __global__ void blur<unsigned short>(Params, const Params*, Flags, unsigned short*);

template <typename Operation>
__global__ void apply(Operation f, void* bytes, float** rows) {}
template __global__ void apply<Add>(Add, void*, float**);
}  // namespace filters

__global__ void add(int* x, int by) { *x += by; }
__global__ void add(float* x, float by) { *x += by; }
template <int N>
__global__ void fill(float* out, int n) { out[n] = N; }
template __global__ void fill<1>(float*, int);
template __global__ void fill<2>(float*, int);
__global__ void reference(int& n) {}
