// Variables that the host reads and writes. What is read of them is in variables.txt, for every compiler the same.
#include "prelude.h"

struct Filter {
    float weights[3];
    int offset;
};

__constant__ float coefficients[25];
static __constant__ unsigned steps[2];
__constant__ Filter filter;
__constant__ const float* addresses[2];
__device__ float4 colors[2][3];
__device__ double started = 2.5;
__device__ volatile int flag;
namespace outer { namespace inner {
__device__ half small;
}}

// Those that the host does not reach but for the template: with a value in constant memory, of a function, in a namespace that
// has no name or `static` in one that has, and of a type that does not cross.
__constant__ float table[2] = {0.5f, 0.25f};
template <int N> __device__ int of_template;
namespace { __device__ int anonymous; }
namespace outer { static __device__ int hidden; }
union Either { int i; float f; };
__device__ Either either;

extern "C" __global__ void all(float* x) {
    static __device__ int local;
    x[0] = coefficients[1] + steps[0] + filter.offset + (float)(addresses[1] != 0) + colors[1][2].x +
           (float)started + flag + table[1] + of_template<3> + anonymous + outer::hidden + either.f + local++ +
           (float)(sizeof(outer::inner::small));
}
