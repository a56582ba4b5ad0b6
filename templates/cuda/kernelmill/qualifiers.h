// The words of the language, and what the toolkit says of itself.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
// Memory of kernels and the host: kernels are compiled alone here, for which it is their own.
#define __managed__ __attribute__((device))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(n) __attribute__((annotate("kernelmill.maxnreg", n)))
#define __KM_CLUSTER(x, y, z, ...) __attribute__((annotate("kernelmill.cluster", x, y, z)))
#define __cluster_dims__(...) __KM_CLUSTER(__VA_ARGS__, 1, 1, 1)
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __cudart_builtin__
#define CUDARTAPI
#define CUDA_CB
#define CUDART_CB
#define CUDAAPI
#define __CUDACC__ 1
// Headers for hosts and devices ask for it before they give functions `__host__ __device__`.
#define __NVCC__ 1
#define __CUDACC_RDC_UNSET__ 1

#define CUDA_VERSION 12090
#define CUDART_VERSION 12090
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 9
#define __CUDACC_VER_BUILD__ 0

// The guards of the toolkit's headers that nvcc reads before every file. Other headers ask for them, and declare what is in
// terms of the run time only where one of them is defined: the helpers of NVIDIA's samples do.
#ifndef __HIP__
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define __DRIVER_TYPES_H__
#define __HOST_DEFINES_H__
#define __LIBRARY_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __VECTOR_TYPES_H__
#endif

// For sources that have a way for compilers without the toolkit.
#define __KERNELMILL__ 1

// The width of indices that a source chooses a type by. The compiler narrows those of a variant itself, behind these
// headers; for nvcc, which does not, a build defines it as 32 there.
#ifndef KERNELMILL_INDEX_WIDTH
#define KERNELMILL_INDEX_WIDTH 64
#endif

// A device function of another source, in Rust or C++, declared with its result, its name and the
// types of its parameters; KERNELMILL_DEFERRED is then its address.
#define KERNELMILL_FUNCTION(result, name, ...) \
  extern "C" __device__ result __kernelmill_deferred_##name(__VA_ARGS__)
#define KERNELMILL_DEFERRED(name) (&__kernelmill_deferred_##name)

// Functions of these headers: for the device alone where the host's library has the name too.
#define __KM_D static inline __attribute__((device, always_inline))
#define __KM_HD static inline __attribute__((host, device, always_inline))
#define __KM_MEMBER __attribute__((host, device, always_inline))

typedef __SIZE_TYPE__ __km_size;
typedef unsigned int __km_u32;
typedef unsigned long long __km_u64;

template <bool Condition, class Type = void> struct __km_enable {};
template <class Type> struct __km_enable<true, Type> { typedef Type type; };
template <class Type> struct __km_is_integer { static const bool value = false; };
#define __KM_INTEGER(T) template <> struct __km_is_integer<T> { static const bool value = true; };
__KM_INTEGER(bool) __KM_INTEGER(char) __KM_INTEGER(signed char) __KM_INTEGER(unsigned char)
__KM_INTEGER(short) __KM_INTEGER(unsigned short) __KM_INTEGER(int) __KM_INTEGER(unsigned int)
__KM_INTEGER(long) __KM_INTEGER(unsigned long) __KM_INTEGER(long long)
__KM_INTEGER(unsigned long long)
#undef __KM_INTEGER
