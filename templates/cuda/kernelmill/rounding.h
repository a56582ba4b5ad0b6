// Arithmetic that is rounded towards zero, upwards or downwards. No target but NVIDIA's has it, so each function
// takes the result that is rounded to the nearest, and the sign of what it leaves out of the exact one. The sign is
// always right but for fused operations of doubles whose product is not between 2^-960 and 2^1023.
#pragma once

template <class Real> struct __km_bits_of { typedef unsigned long long type; };
template <> struct __km_bits_of<float> { typedef unsigned int type; };
template <class Real> __KM_D Real __km_towards(Real x, Real y) {
  return __km_next<typename __km_bits_of<Real>::type>(x, y);
}
// The number that is `error` greater than the nearest one; only the sign of `error` counts.
template <class Real> __KM_D Real __km_down(Real nearest, double error) {
  return error < 0 ? __km_towards(nearest, -(Real)__builtin_inf()) : nearest;
}
template <class Real> __KM_D Real __km_up(Real nearest, double error) {
  return error > 0 ? __km_towards(nearest, (Real)__builtin_inf()) : nearest;
}
template <class Real> __KM_D Real __km_inwards(Real nearest, double error) {
  bool outside = nearest > 0 ? error < 0 : nearest < 0 && error > 0;
  return outside ? __km_towards(nearest, (Real)0) : nearest;
}

// What the nearest sum of two doubles leaves out, which is a double (Knuth).
__KM_D double __km_left_of_sum(double x, double y) {
  double sum = __kernelmill_exact__dadd_rn(x, y), second = sum - x;
  return (x - (sum - second)) + (y - second);
}
// The sign of what an infinite result leaves out of a finite one.
__KM_D double __km_left_of_infinite(double nearest, bool finite) { return finite ? -nearest : 0; }

__KM_D double __km_error_of_add(float nearest, float x, float y) {
  double error = __kernelmill_exact__dadd_rn(x, y) - nearest;
  return error == 0 ? __km_left_of_sum(x, y) : error;
}
__KM_D double __km_error_of_add(double nearest, double x, double y) {
  if (!__builtin_isfinite(nearest))
    return __km_left_of_infinite(nearest, __builtin_isfinite(x) && __builtin_isfinite(y));
  return __km_left_of_sum(x, y);
}
__KM_D double __km_error_of_multiply(float nearest, float x, float y) {
  return (double)x * y - nearest;
}
__KM_D double __km_error_of_multiply(double nearest, double x, double y) {
  if (!__builtin_isfinite(nearest))
    return __km_left_of_infinite(nearest, __builtin_isfinite(x) && __builtin_isfinite(y));
  if (__builtin_fabs(nearest) > 0x1p-960) return __builtin_fma(x, y, -nearest);
  // What is left out may be no double: both factors are below 2^114 here, and are scaled.
  double a = x * 0x1p600, b = y * 0x1p600, product = a * b;
  double error = product - nearest * 0x1p600 * 0x1p600;
  return error == 0 ? __builtin_fma(a, b, -product) : error;
}
__KM_D double __km_error_of_fused(float nearest, float x, float y, float z) {
  double product = (double)x * y, error = product + z - nearest;
  return error == 0 ? __km_left_of_sum(product, z) : error;
}
// Boldo and Muller, Exact and approximated error of the FMA.
__KM_D double __km_error_of_fused(double nearest, double x, double y, double z) {
  if (!__builtin_isfinite(nearest)) {
    bool finite = __builtin_isfinite(x) && __builtin_isfinite(y) && __builtin_isfinite(z);
    return __km_left_of_infinite(nearest, finite);
  }
  double product = __kernelmill_exact__dmul_rn(x, y), low = __builtin_fma(x, y, -product);
  double first = z + low, first_low = __km_left_of_sum(z, low);
  double second = product + first, second_low = __km_left_of_sum(product, first);
  return ((second - nearest) + second_low) + first_low;
}
__KM_D double __km_error_of_divide(float nearest, float x, float y) {
  double rest = x - (double)nearest * y;
  return y < 0 ? -rest : rest;
}
__KM_D double __km_error_of_divide(double nearest, double x, double y) {
  if (!__builtin_isfinite(nearest))
    return __km_left_of_infinite(nearest, __builtin_isfinite(x) && __builtin_isfinite(y) && y != 0);
  bool small = __builtin_fabs(x) < 0x1p-900 && __builtin_fabs(y) < 0x1p900;
  double scale = small ? 0x1p110 : 1.0, rest = __builtin_fma(-nearest, y * scale, x * scale);
  return y < 0 ? -rest : rest;
}
__KM_D double __km_error_of_root(float nearest, float x) { return x - (double)nearest * nearest; }
__KM_D double __km_error_of_root(double nearest, double x) {
  if (!__builtin_isfinite(nearest)) return 0;
  double scale = x < 0x1p-900 ? 0x1p100 : 1.0, root = nearest * scale;
  return __builtin_fma(-root, root, x * scale * scale);
}

// A sum of zeros, or of a number and its opposite, is -0 downwards where one of the two is negative.
template <class Real> __KM_D Real __km_down_of_sum(Real nearest, double error, bool opposite) {
  return nearest == 0 && error == 0 && opposite ? -(Real)0 : __km_down(nearest, error);
}

#define __KM_ROUNDED(SUFFIX, ROUND, SUM)                                                            \
  __KM_D float __fadd_##SUFFIX(float x, float y) {                                                 \
    float nearest = __kernelmill_exact__fadd_rn(x, y);                                             \
    bool opposite = __builtin_signbit(x) != __builtin_signbit(y);                                  \
    return SUM(nearest, __km_error_of_add(nearest, x, y), opposite);                               \
  }                                                                                                \
  __KM_D double __dadd_##SUFFIX(double x, double y) {                                              \
    double nearest = __kernelmill_exact__dadd_rn(x, y);                                            \
    bool opposite = __builtin_signbit(x) != __builtin_signbit(y);                                  \
    return SUM(nearest, __km_error_of_add(nearest, x, y), opposite);                               \
  }                                                                                                \
  __KM_D float __fsub_##SUFFIX(float x, float y) { return __fadd_##SUFFIX(x, -y); }                \
  __KM_D double __dsub_##SUFFIX(double x, double y) { return __dadd_##SUFFIX(x, -y); }             \
  __KM_D float __fmul_##SUFFIX(float x, float y) {                                                 \
    float nearest = __kernelmill_exact__fmul_rn(x, y);                                             \
    return ROUND(nearest, __km_error_of_multiply(nearest, x, y));                                  \
  }                                                                                                \
  __KM_D double __dmul_##SUFFIX(double x, double y) {                                              \
    double nearest = __kernelmill_exact__dmul_rn(x, y);                                            \
    return ROUND(nearest, __km_error_of_multiply(nearest, x, y));                                  \
  }                                                                                                \
  __KM_D float __fmaf_##SUFFIX(float x, float y, float z) {                                        \
    float nearest = __builtin_fmaf(x, y, z);                                                       \
    bool opposite = (__builtin_signbit(x) != __builtin_signbit(y)) != !!__builtin_signbit(z);      \
    return SUM(nearest, __km_error_of_fused(nearest, x, y, z), opposite);                          \
  }                                                                                                \
  __KM_D float __fmaf_ieee_##SUFFIX(float x, float y, float z) { return __fmaf_##SUFFIX(x, y, z); } \
  __KM_D double __fma_##SUFFIX(double x, double y, double z) {                                     \
    double nearest = __builtin_fma(x, y, z);                                                       \
    bool opposite = (__builtin_signbit(x) != __builtin_signbit(y)) != !!__builtin_signbit(z);      \
    return SUM(nearest, __km_error_of_fused(nearest, x, y, z), opposite);                          \
  }                                                                                                \
  __KM_D float __fdiv_##SUFFIX(float x, float y) {                                                 \
    return ROUND(x / y, __km_error_of_divide(x / y, x, y));                                        \
  }                                                                                                \
  __KM_D double __ddiv_##SUFFIX(double x, double y) {                                              \
    return ROUND(x / y, __km_error_of_divide(x / y, x, y));                                        \
  }                                                                                                \
  __KM_D float __frcp_##SUFFIX(float x) { return __fdiv_##SUFFIX(1.0f, x); }                       \
  __KM_D double __drcp_##SUFFIX(double x) { return __ddiv_##SUFFIX(1.0, x); }                      \
  __KM_D float __fsqrt_##SUFFIX(float x) {                                                         \
    float nearest = __builtin_sqrtf(x);                                                            \
    return ROUND(nearest, __km_error_of_root(nearest, x));                                         \
  }                                                                                                \
  __KM_D double __dsqrt_##SUFFIX(double x) {                                                       \
    double nearest = __builtin_sqrt(x);                                                            \
    return ROUND(nearest, __km_error_of_root(nearest, x));                                         \
  }                                                                                                \
  __KM_D float __double2float_##SUFFIX(double x) { return ROUND((float)x, x - (float)x); }         \
  __KM_D float __int2float_##SUFFIX(int x) { return __double2float_##SUFFIX(x); }                  \
  __KM_D float __uint2float_##SUFFIX(unsigned int x) { return __double2float_##SUFFIX(x); }        \
  __KM_D float __ll2float_##SUFFIX(long long x) { return __km_##SUFFIX##_of<float>(x); }           \
  __KM_D float __ull2float_##SUFFIX(unsigned long long x) { return __km_##SUFFIX##_of<float>(x); } \
  __KM_D double __ll2double_##SUFFIX(long long x) { return __km_##SUFFIX##_of<double>(x); }        \
  __KM_D double __ull2double_##SUFFIX(unsigned long long x) { return __km_##SUFFIX##_of<double>(x); }

// An integer of 64 bits: the nearest number may be beyond all of them, and is then too great.
template <class Real, class Integer> __KM_D double __km_error_of_integer(Real nearest, Integer x) {
  const Real end = (Integer)-1 < (Integer)0 ? (Real)0x1p63 : (Real)0x1p64;
  if (nearest >= end) return -1;
  Integer back = (Integer)nearest;
  return x > back ? 1 : x < back ? -1 : 0;
}
#define __KM_OF_INTEGER(SUFFIX, ROUND)                                                              \
  template <class Real, class Integer> __KM_D Real __km_##SUFFIX##_of(Integer x) {                 \
    return ROUND((Real)x, __km_error_of_integer((Real)x, x));                                      \
  }
__KM_OF_INTEGER(rz, __km_inwards) __KM_OF_INTEGER(ru, __km_up) __KM_OF_INTEGER(rd, __km_down)
#undef __KM_OF_INTEGER

#define __KM_INWARDS_OF_SUM(NEAREST, ERROR, OPPOSITE) ((void)OPPOSITE, __km_inwards(NEAREST, ERROR))
#define __KM_UP_OF_SUM(NEAREST, ERROR, OPPOSITE) ((void)OPPOSITE, __km_up(NEAREST, ERROR))
__KM_ROUNDED(rz, __km_inwards, __KM_INWARDS_OF_SUM)
__KM_ROUNDED(ru, __km_up, __KM_UP_OF_SUM)
__KM_ROUNDED(rd, __km_down, __km_down_of_sum)
#undef __KM_INWARDS_OF_SUM
#undef __KM_UP_OF_SUM
#undef __KM_ROUNDED
