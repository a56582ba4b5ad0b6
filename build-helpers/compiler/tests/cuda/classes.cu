// What only clang says in debug information: constructors and destructors. Only those count that copying calls.
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

struct Copied {
    __device__ Copied(const Copied& other) : value(other.value + 1) {}
    int value;
};
struct Moved {
    Moved() = default;
    Moved(const Moved&) = default;
    ~Moved() = default;
    __device__ Moved& operator=(const Moved&) { return *this; }
    short value;
};
template <typename T>
class Accessor {
public:
    __device__ Accessor(T* data, const long* sizes) : data(data) {}
protected:
    T* data;
    long sizes[2];
};
template <typename T>
class Packed : public Accessor<T> {
public:
    __device__ Packed(T* data, const long* sizes) : Accessor<T>(data, sizes) {}
    __device__ T& operator[](long index) { return this->data[index]; }
private:
    int count;
};
struct Hiding : Handle {
    __device__ Hiding() : Handle(1) {}
    float value;
};
struct Shared : virtual Counter {
    int own;
};
extern "C" __global__ void with_copy(Copied a, Copied* b) {}
extern "C" __global__ void with_assignment(Moved a, const Handle* b) {}
extern "C" __global__ void with_base(Packed<float> a) {}
extern "C" __global__ void with_hidden(Hiding a) {}
extern "C" __global__ void with_virtual_base(Shared a) {}
