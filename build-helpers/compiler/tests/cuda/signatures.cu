// Kernels with parameters of every kind. What is read of them is in signatures.txt, for every
// compiler the same.
#include "prelude.h"
#include "scale.cuh"

// Scalars.
extern "C" __global__ void integers(
    char a, signed char b, unsigned char c, short d, unsigned short e, int f, unsigned g, long h,
    unsigned long i, long long j, unsigned long long k) {}
extern "C" __global__ void renamed(size_t a, ptrdiff_t b, int8_t c, uint64_t d, wchar_t e, char16_t f) {}
extern "C" __global__ void floats(float a, double b, half c, __nv_bfloat16 d, bool e) {}

// Pointers.
extern "C" __global__ void pointers(
    const float* a, float* __restrict__ b, const double* __restrict__ const c, volatile int* d,
    const volatile int* e, const half* f, __nv_bfloat16* g, const size_t* h, const int i[]) {}
extern "C" __global__ void bytes(void* a, const void* b, const char* const c) {}
extern "C" __global__ void addresses(float** a, float* const* b, const float* const* c) {}
extern "C" __global__ void rows(float (*a)[3], const int (*b)[2][4]) {}

// Structs.
struct Params {
    float scale;
    int sizes[3];
    float4 color;
};
struct Matrix {
    float m[2][3];
    bool is_transposed;
    char name[17];
    const float* data;
    static const int rank = 2;
    __device__ float at(int i) const { return data[i]; }
};
struct __align__(32) Wide { float x; };
struct Outer {
    int first;
    Wide wide;
};
struct Tight { float x[3]; };
struct __align__(16) Loose { float x[3]; };
typedef struct { int a, b; } Unnamed;
struct Nested {
    struct { int deep; } inner;
    struct { short left, right; };
    Unnamed unnamed;
};
struct Empty {};
struct Derived : Empty { int x; };
struct List {
    List* next;
    int value;
};
extern "C" __global__ void by_value(Params a, Matrix b, Outer c, Unnamed d, Nested e) {}
extern "C" __global__ void behind_pointers(const Params* a, Matrix* b, List* c) {
    *b = Matrix();
    c->value = a->sizes[0];
}
extern "C" __global__ void aligned(Tight a, Loose b, const Loose* c) {}
extern "C" __global__ void empty(Empty a, Derived b) {}
extern "C" __global__ void vectors(
    float2 a, float3 b, const float4* c, int4* d, uchar4 e, half2 f, dim3 g) {
    d->x = c->x;
}

// Templates.
namespace math {
template <typename T, int N>
struct Vector { T x[N]; };
struct Add { float by; };
template <typename T, int N>
__global__ void __launch_bounds__(128, 2) scale(T by, const T* __restrict__ in, T* out, Vector<T, N> v) {}
template __global__ void scale<float, 2>(float, const float*, float*, Vector<float, 2>);
template __global__ void scale<__half, 3>(__half, const __half*, __half*, Vector<__half, 3>);
template <class F, bool B, unsigned U>
__global__ void apply(F f, float* out, Vector<Vector<F, 1>, 2>* v) { v->x[0].x[0] = f; }
template __global__ void apply<Add, true, 4u>(Add, float*, Vector<Vector<Add, 1>, 2>*);
template <typename... T>
__global__ void pack(T... t) {}
template __global__ void pack<int, float>(int, float);
}  // namespace math
template __global__ void fill<unsigned long long>(unsigned long long, unsigned long long*);

// Enumerations.
namespace filters {
enum Mode { Nearest, Linear = 5 };
enum class Small : unsigned char { Zero, Top = 255 };
enum class Signed : int8_t { Minus = -3, Plus = 4 };
enum class Flags : unsigned { None, All = 0xffffffff };
enum class Long : long { Low = -1, High = 0x7fffffffffffffff };
__global__ void enumerations(Mode a, Small b, Signed c, Flags d, Long e, const Mode* f) {}
}  // namespace filters

// Names.
namespace filters { __global__ void same(float a) {} }
namespace math { __global__ void same(float a) {} }
__global__ void add(float a, float* x) {}
__global__ void add(int a, float* x) {}
__global__ void unnamed(float, int) {}
extern "C" __global__ void __launch_bounds__(64) limited(int n) {}

// What cannot cross; the other kernels are not affected.
struct Bits { int low : 3; int high : 5; };
union Either { int i; float f; };
struct Tagged { int tag; union { int i; float f; }; };
struct Base { int x; };
struct Child : Base { int y; };
struct __attribute__((packed)) Packed { char a; int b; };
struct Gap { int a; __align__(16) float b; };
struct Virtual { virtual __device__ int get() { return x; } int x; };
struct Unknown;
__global__ void references(int& a, const Params& b) {}
__global__ void bits(Bits a, int good, Either* b) { b->i = good; }
__global__ void inherited(Child a, Tagged b) {}
__global__ void unaligned(Packed a, Gap b) {}
__global__ void with_virtual(Virtual a) {}
__global__ void unknown(const Unknown* a) {}
__global__ void functions(void (*a)(int), int Base::*b) {}
