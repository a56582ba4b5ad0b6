// What only clang says in debug information: constructors and destructors.
#include "prelude.h"

struct Handle {
    __device__ Handle(int value) : value(value) {}
    int value;
};
template <typename T>
struct Owner {
    __device__ ~Owner() {}
    T* data;
};
struct Counter {
    int count;
    __device__ int next() { return count++; }
};
extern "C" __global__ void with_constructor(Handle a) {}
extern "C" __global__ void with_destructor(Owner<int> a) {}
extern "C" __global__ void with_method(Counter a) {}
