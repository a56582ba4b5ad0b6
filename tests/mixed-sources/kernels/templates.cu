// Templates that no host code instantiates: the settings list their instances.
#include <cuda_fp16.h>

#include "templates/sums.cuh"

enum class Mode { Add, Multiply };

namespace filters {
struct Twice {
  template <typename T> __device__ static T of(T x) { return x + x; }
};

template <typename T> struct Pair {
  T first, second;
};

// `y = F(a * x) + N`, or times `N`.
template <typename T, int N = 4, Mode M = Mode::Add, typename F = Twice>
__global__ void shaped(T a, const T *x, T *y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T value = F::of(a * x[i]);
  y[i] = M == Mode::Add ? value + T(N) : value * T(N);
}

// A parameter that is of another struct in each instance.
template <typename T, bool Swap> __global__ void paired(const Pair<T> *x, Pair<T> by, Pair<T> *y) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i].first = (Swap ? x[i].second : x[i].first) + by.first;
  y[i].second = (Swap ? x[i].first : x[i].second) + by.second;
}
}  // namespace filters

struct Thrice {
  template <typename T> __device__ static T of(T x) { return x + x + x; }
};

// Two templates of one name.
template <typename T> __global__ void filled(T *x) { x[threadIdx.x] = T(1); }
template <typename T> __global__ void filled(T *x, T with) { x[threadIdx.x] = with; }

namespace {
template <typename T> __global__ void hidden(T *x) { x[threadIdx.x] += T(3); }
}

// Instantiated here too.
template <typename T> __global__ void halved(T *x) { x[threadIdx.x] = x[threadIdx.x] / T(2); }
template __global__ void halved<double>(double *);

// Variables of templates: each instance is one of its own.
template <typename T> __constant__ T mask[3];
namespace filters {
template <typename T, int N> __device__ T steps[N];
}
template <typename T> __device__ T start = T(4);

template <typename T> __global__ void masked(T *x) {
  unsigned i = threadIdx.x;
  x[i] = x[i] * mask<T>[i] + filters::steps<T, 3>[i] + start<T>;
  filters::steps<T, 3>[i] += T(1);
}
