// What the tests need of CUDA's headers, for both compilers.
#pragma once

#ifdef __clang__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(bytes) __attribute__((aligned(bytes)))

struct __half { unsigned short __x; };
typedef __half half;
struct __nv_bfloat16 { unsigned short __x; };
struct __align__(4) __half2 { __half x, y; };
typedef __half2 half2;
struct __align__(8) float2 { float x, y; };
struct float3 { float x, y, z; };
struct __align__(16) float4 { float x, y, z, w; };
struct __align__(16) int4 { int x, y, z, w; };
struct __align__(4) uchar4 { unsigned char x, y, z, w; };
struct dim3 { unsigned x, y, z; };
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef signed char int8_t;
typedef unsigned long uint64_t;
