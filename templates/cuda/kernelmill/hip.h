// What clang reads before every file in HIP, behind what it reads before CUDA C++, of which HIP has
// the same names for threads, memory and mathematics. This is what it has besides.
#pragma once

// The words of the language.
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 4
#define HIP_VERSION_PATCH 0
#define HIP_VERSION 60400000
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(name) name
#define HIP_TEMPLATE_KERNEL_LAUNCH
#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)
#define HIP_LAUNCH_PARAM_END ((void *)3)
#define __KM_LAUNCH(kernel, grid, block, bytes, stream, ...)                                       \
  kernel<<<(grid), (block), (bytes), (stream)>>>(__VA_ARGS__)
#define hipLaunchKernelGGL(kernel, ...) __KM_LAUNCH((kernel), __VA_ARGS__)

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

// The scopes of `__hip_atomic_load` and its like, which clang has built in.
#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5

#include "hip_host.h"
#include "hip_amdgcn.h"
#include "hip_wavefront.h"
#include "hip_vectors.h"

// Atomic operations that on AMD's processors may be faster where memory is not the host's, and those
// that never are.
template <class T> __KM_D T unsafeAtomicAdd(T *address, T value) { return atomicAdd(address, value); }
template <class T> __KM_D T safeAtomicAdd(T *address, T value) { return atomicAdd(address, value); }
template <class T> __KM_D T unsafeAtomicMin(T *address, T value) { return atomicMin(address, value); }
template <class T> __KM_D T unsafeAtomicMax(T *address, T value) { return atomicMax(address, value); }
template <class T> __KM_D void atomicAddNoRet(T *address, T value) { atomicAdd(address, value); }
__KM_D unsigned long atomicAdd(unsigned long *address, unsigned long value) {
  return atomicAdd((unsigned long long *)address, (unsigned long long)value);
}
__KM_D unsigned long atomicMin(unsigned long *address, unsigned long value) {
  return atomicMin((unsigned long long *)address, (unsigned long long)value);
}
__KM_D unsigned long atomicMax(unsigned long *address, unsigned long value) {
  return atomicMax((unsigned long long *)address, (unsigned long long)value);
}
__KM_D unsigned long atomicCAS(unsigned long *address, unsigned long compare, unsigned long value) {
  return atomicCAS((unsigned long long *)address, (unsigned long long)compare, (unsigned long long)value);
}
#define __KM_EXTREME(NAME, T, BITS, OPERATOR)                                                      \
  __KM_D T NAME(T *address, T value) {                                                             \
    return __km_atomic_update<BITS>(                                                               \
        address, [=] __device__(T old) { return value OPERATOR old ? value : old; });              \
  }
__KM_EXTREME(atomicMax, float, unsigned int, >)
__KM_EXTREME(atomicMin, float, unsigned int, <)
__KM_EXTREME(atomicMax, double, unsigned long long, >)
__KM_EXTREME(atomicMin, double, unsigned long long, <)
#undef __KM_EXTREME

__KM_D long long wall_clock64() { return clock64(); }
__KM_D long long __clock64() { return clock64(); }
__KM_D int __clock() { return clock(); }

#if defined(__HIP_PLATFORM_AMD__)
// On AMD's processors the source is in HIP, and in no way in CUDA C++.
#undef __CUDACC__
#undef __NVCC__
#undef __CUDA_ARCH__
#endif
