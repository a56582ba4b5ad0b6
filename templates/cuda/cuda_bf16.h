// Brain floating point: the upper half of a float. It is computed with as float, and rounded; on
// every target alike.
#pragma once
#ifndef __HIP__
#define __CUDA_BF16_H__
#endif

#include "cuda_fp16.h"

__KM_HD float __km_bf16_to_f32(unsigned short bits) {
  return __builtin_bit_cast(float, (unsigned int)bits << 16);
}
// To the nearest, where two are as near to the even one.
__KM_HD unsigned short __km_f32_to_bf16(float x) {
  unsigned int bits = __builtin_bit_cast(unsigned int, x);
  if ((bits & 0x7fffffff) > 0x7f800000) return (unsigned short)(bits >> 16 | 0x40);
  return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
// By way of a float whose last bit says that it is not exact, so that it is rounded only once.
__KM_HD unsigned short __km_f64_to_bf16(double x) {
  float near = (float)x;
  double back = near;
  if (!(back < x || back > x)) return __km_f32_to_bf16(near);
  unsigned int bits = __builtin_bit_cast(unsigned int, near);
  bool away = (back > x) == (back > 0 || (back == 0 && x < 0));
  return __km_f32_to_bf16(__builtin_bit_cast(float, (away ? bits - 1 : bits) | 1));
}
__KM_HD unsigned short __km_fma_bf16(unsigned short a, unsigned short b, unsigned short c) {
  double product = (double)__km_bf16_to_f32(a) * __km_bf16_to_f32(b);
  return __km_f64_to_bf16(product + __km_bf16_to_f32(c));
}

#define __KM_H __nv_bfloat16
#define __KM_H2 __nv_bfloat162
#define __KM_H_RAW __nv_bfloat16_raw
#define __KM_H2_RAW __nv_bfloat162_raw
#define __KM_WORD bfloat16
#define __KM_H_TO_F32 __km_bf16_to_f32
#define __KM_F32_TO_H __km_f32_to_bf16
#define __KM_F64_TO_H __km_f64_to_bf16
#define __KM_FMA_H __km_fma_bf16
#define __KM_H_INFINITY 0x7f80
#define __KM_OTHER_H __half
#include "kernelmill/half_precision.h"

// Each format from the other: the constructors that both declare.
inline __KM_MEMBER __half::__half(__nv_bfloat16 v) : __half((float)v) {}
inline __KM_MEMBER __nv_bfloat16::__nv_bfloat16(__half v) : __nv_bfloat16((float)v) {}
