// Numbers of 8 bits: 4 of exponent and 3 of fraction, without infinities, or 5 and 2. They are for
// storage; conversions saturate at the greatest finite number where that is asked for.
#pragma once
#define __CUDA_FP8_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

// To the nearest, where two are as near to the even one.
__KM_HD __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                 __nv_fp8_interpretation_t kind) {
  const int fraction = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
  const unsigned int greatest = kind == __NV_E4M3 ? 0x7e : 0x7b;
  unsigned int bits = __builtin_bit_cast(unsigned int, x), sign = bits >> 24 & 0x80;
  unsigned int size = bits & 0x7fffffff;
  if (size > 0x7f800000) return 0x7f;
  unsigned int result;
  if ((int)(size >> 23) - 127 + bias <= 0) {
    // Subnormal: a whole number of the smallest.
    float scale = __builtin_bit_cast(float, (unsigned int)(127 + bias - 1 + fraction) << 23);
    result = (unsigned int)__builtin_rintf(__builtin_bit_cast(float, size) * scale);
  } else {
    int drop = 23 - fraction;
    unsigned int rounded = size + (1u << (drop - 1)) - 1 + (size >> drop & 1);
    result = (rounded >> drop) - ((127 - bias) << fraction);
  }
  if (result > greatest)
    result = saturate == __NV_SATFINITE ? greatest : kind == __NV_E4M3 ? 0x7f : 0x7c;
  return (__nv_fp8_storage_t)(result | sign);
}
__KM_HD float __km_fp8_to_float(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  const int fraction = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
  unsigned int size = x & 0x7f, sign = (unsigned int)(x & 0x80) << 24;
  if (kind == __NV_E4M3 && size == 0x7f) return __builtin_nanf("");
  unsigned int bits = size << (23 - fraction);
  if (kind == __NV_E5M2 && size >= 0x7c) return __builtin_bit_cast(float, bits | 0x7f800000 | sign);
  float scale = __builtin_bit_cast(float, (unsigned int)(127 + 127 - bias) << 23);
  float value = __builtin_bit_cast(float, bits) * scale;
  return __builtin_bit_cast(float, __builtin_bit_cast(unsigned int, value) | sign);
}
__KM_HD __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  return __half(__km_fp8_to_float(x, kind));
}
__KM_HD __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                               __nv_fp8_interpretation_t kind) {
  return __half2_raw{__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, kind).x,
                     __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), kind).x};
}
// A float on the way to fewer bits: where it is not exact, the neighbour whose last bit is set, so that
// the second rounding sees on which side the number was (Boldo and Melquiond, 2008).
__KM_HD float __km_round_to_odd(double x) {
  float nearest = (float)x;
  unsigned int bits = __builtin_bit_cast(unsigned int, nearest);
  if (!(x == x) || (double)nearest == x || (bits & 1)) return nearest;
  double size = __builtin_fabs(x), rounded = __builtin_fabs((double)nearest);
  float result = __builtin_bit_cast(float, size > rounded ? bits + 1 : bits - 1);
  return nearest == 0 ? (x < 0 ? -__builtin_bit_cast(float, 1u) : __builtin_bit_cast(float, 1u)) : result;
}
__KM_HD __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                  __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__km_round_to_odd(x), saturate, kind);
}
__KM_HD __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                   __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8((float)__half(x), saturate, kind);
}
__KM_HD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x,
                                                       __nv_saturation_t saturate,
                                                       __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8((float)__nv_bfloat16(x), saturate, kind);
}
__KM_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t kind) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(x.x, saturate, kind) |
                                __nv_cvt_float_to_fp8(x.y, saturate, kind) << 8);
}
__KM_HD __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 x, __nv_saturation_t saturate,
                                                       __nv_fp8_interpretation_t kind) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_fp8(x.x, saturate, kind) |
                                __nv_cvt_double_to_fp8(x.y, saturate, kind) << 8);
}
__KM_HD __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw x, __nv_saturation_t saturate,
                                                        __nv_fp8_interpretation_t kind) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_halfraw_to_fp8(__half_raw{x.x}, saturate, kind) |
                                __nv_cvt_halfraw_to_fp8(__half_raw{x.y}, saturate, kind) << 8);
}
__KM_HD __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw x,
                                                            __nv_saturation_t saturate,
                                                            __nv_fp8_interpretation_t kind) {
  return (__nv_fp8x2_storage_t)(
      __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.x}, saturate, kind) |
      __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.y}, saturate, kind) << 8);
}
__KM_HD __nv_bfloat16_raw __nv_cvt_fp8_to_bf16raw(__nv_fp8_storage_t x,
                                                  __nv_fp8_interpretation_t kind) {
  return __nv_bfloat16(__km_fp8_to_float(x, kind));
}
__KM_HD __nv_bfloat162_raw __nv_cvt_fp8x2_to_bf162raw(__nv_fp8x2_storage_t x,
                                                      __nv_fp8_interpretation_t kind) {
  return __nv_bfloat162_raw{__nv_cvt_fp8_to_bf16raw((__nv_fp8_storage_t)x, kind).x,
                            __nv_cvt_fp8_to_bf16raw((__nv_fp8_storage_t)(x >> 8), kind).x};
}

#define __KM_FP8(NAME, KIND)                                                                       \
  struct NAME {                                                                                    \
    __nv_fp8_storage_t __x;                                                                        \
    NAME() = default;                                                                              \
    explicit __KM_MEMBER NAME(float v) : __x(__nv_cvt_float_to_fp8(v, __NV_SATFINITE, KIND)) {}    \
    explicit __KM_MEMBER NAME(double v) : __x(__nv_cvt_double_to_fp8(v, __NV_SATFINITE, KIND)) {}  \
    explicit __KM_MEMBER NAME(int v) : NAME((float)v) {}                                           \
    explicit __KM_MEMBER NAME(unsigned int v) : NAME((float)v) {}                                  \
    explicit __KM_MEMBER NAME(long v) : NAME((float)v) {}                                          \
    explicit __KM_MEMBER NAME(unsigned long v) : NAME((float)v) {}                                 \
    explicit __KM_MEMBER NAME(__half v) : NAME((float)v) {}                                        \
    explicit __KM_MEMBER NAME(__nv_bfloat16 v) : NAME((float)v) {}                                 \
    explicit __KM_MEMBER operator float() const { return __km_fp8_to_float(__x, KIND); }           \
    explicit __KM_MEMBER operator double() const { return (float)*this; }                          \
    explicit __KM_MEMBER operator __half() const { return __half((float)*this); }                  \
    explicit __KM_MEMBER operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }    \
    explicit __KM_MEMBER operator int() const { return (int)(float)*this; }                        \
    explicit __KM_MEMBER operator unsigned int() const { return (unsigned int)(float)*this; }      \
    explicit __KM_MEMBER operator unsigned char() const { return (unsigned char)(float)*this; }    \
    explicit __KM_MEMBER operator bool() const { return (__x & 0x7f) != 0; }                       \
  };
__KM_FP8(__nv_fp8_e4m3, __NV_E4M3)
__KM_FP8(__nv_fp8_e5m2, __NV_E5M2)
#undef __KM_FP8

// Two and four of them; the first is in the lowest bits.
#define __KM_FP8X2(NAME, KIND)                                                                     \
  struct __align__(2) NAME {                                                                      \
    __nv_fp8x2_storage_t __x;                                                                      \
    NAME() = default;                                                                              \
    explicit __KM_MEMBER NAME(float2 v)                                                            \
        : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, KIND)) {}                                \
    explicit __KM_MEMBER NAME(double2 v)                                                           \
        : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, KIND)) {}                               \
    explicit __KM_MEMBER NAME(__half2 v)                                                           \
        : __x(__nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, KIND)) {}                              \
    explicit __KM_MEMBER NAME(__nv_bfloat162 v)                                                    \
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(v, __NV_SATFINITE, KIND)) {}                          \
    explicit __KM_MEMBER operator float2() const {                                                 \
      return float2{__km_fp8_to_float((__nv_fp8_storage_t)__x, KIND),                              \
                    __km_fp8_to_float((__nv_fp8_storage_t)(__x >> 8), KIND)};                      \
    }                                                                                              \
    explicit __KM_MEMBER operator __half2() const { return __nv_cvt_fp8x2_to_halfraw2(__x, KIND); } \
    explicit __KM_MEMBER operator __nv_bfloat162() const {                                         \
      return __nv_cvt_fp8x2_to_bf162raw(__x, KIND);                                                \
    }                                                                                              \
  };
#define __KM_FP8X4(NAME, PAIR)                                                                     \
  struct __align__(4) NAME {                                                                      \
    __nv_fp8x4_storage_t __x;                                                                      \
    NAME() = default;                                                                              \
    __KM_MEMBER NAME(PAIR low, PAIR high) : __x((__nv_fp8x4_storage_t)high.__x << 16 | low.__x) {} \
    explicit __KM_MEMBER NAME(float4 v) : NAME(PAIR(float2{v.x, v.y}), PAIR(float2{v.z, v.w})) {}  \
    explicit __KM_MEMBER NAME(double4 v)                                                           \
        : NAME(PAIR(double2{v.x, v.y}), PAIR(double2{v.z, v.w})) {}                                \
    explicit __KM_MEMBER NAME(__half2 low, __half2 high) : NAME(PAIR(low), PAIR(high)) {}          \
    explicit __KM_MEMBER NAME(__nv_bfloat162 low, __nv_bfloat162 high)                             \
        : NAME(PAIR(low), PAIR(high)) {}                                                           \
    explicit __KM_MEMBER operator float4() const {                                                 \
      PAIR low, high;                                                                              \
      low.__x = (__nv_fp8x2_storage_t)__x;                                                         \
      high.__x = (__nv_fp8x2_storage_t)(__x >> 16);                                                \
      float2 first = (float2)low, second = (float2)high;                                           \
      return float4{first.x, first.y, second.x, second.y};                                         \
    }                                                                                              \
  };
__KM_FP8X2(__nv_fp8x2_e4m3, __NV_E4M3)
__KM_FP8X2(__nv_fp8x2_e5m2, __NV_E5M2)
__KM_FP8X4(__nv_fp8x4_e4m3, __nv_fp8x2_e4m3)
__KM_FP8X4(__nv_fp8x4_e5m2, __nv_fp8x2_e5m2)
#undef __KM_FP8X2
#undef __KM_FP8X4
