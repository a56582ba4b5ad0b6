// Stored as PTX of both compilers, so that the reader is tested where neither is installed.
//     nvcc -ptx -G -arch=sm_80 sample.cu -o sample.nvcc.ptx
//     clang-22 -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_80
//         --cuda-feature=+ptx70 -g -Xclang -debug-info-kind=standalone -O0 -S -fno-verbose-asm sample.cu
//         -o sample.clang.ptx
// In /tmp/kernels, since debug information has the path.
#ifdef __clang__
#define __global__ __attribute__((global))
#define __launch_bounds__(threads) __attribute__((launch_bounds(threads)))
#endif

struct Params {
    float scale;
    const float* data;
};

namespace filters {
enum Mode { Nearest, Linear = 5 };

template <typename T>
__global__ void __launch_bounds__(128) scale(Params params, Mode mode, const T* in, T* out) {
    *out = *in;
}

template __global__ void scale<float>(Params, Mode, const float*, float*);
}  // namespace filters

__global__ void reference(int& n) {}
