// Functions of real numbers. The elementary ones are kernelmill's own on every target, so that the
// CPU and the processors of all makers give the same results; clang writes them as intrinsics.
#pragma once

#include "special.h"

#define __KM_FUNCTION(NAME)                                                                        \
  __KM_D float NAME##f(float x) { return __builtin_##NAME##f(x); }                                 \
  __KM_D double NAME(double x) { return __builtin_##NAME(x); }                                     \
  __KM_OVERLOAD(NAME)
// The overloads of C++: for float, and for integers, which become double.
#define __KM_OVERLOAD(NAME)                                                                        \
  __KM_D float NAME(float x) { return NAME##f(x); }                                                \
  template <class T>                                                                               \
  __KM_D typename __km_enable<__km_is_integer<T>::value, double>::type NAME(T x) {                 \
    return NAME((double)x);                                                                        \
  }
__KM_FUNCTION(sin) __KM_FUNCTION(cos) __KM_FUNCTION(tan) __KM_FUNCTION(asin) __KM_FUNCTION(acos)
__KM_FUNCTION(atan) __KM_FUNCTION(sinh) __KM_FUNCTION(cosh) __KM_FUNCTION(tanh) __KM_FUNCTION(exp)
__KM_FUNCTION(exp2) __KM_FUNCTION(expm1) __KM_FUNCTION(log) __KM_FUNCTION(log2)
__KM_FUNCTION(log10) __KM_FUNCTION(log1p) __KM_FUNCTION(cbrt) __KM_FUNCTION(sqrt)
__KM_FUNCTION(floor) __KM_FUNCTION(ceil) __KM_FUNCTION(trunc) __KM_FUNCTION(rint)
__KM_FUNCTION(round) __KM_FUNCTION(fabs)
__KM_D float nearbyintf(float x) { return __builtin_rintf(x); }
__KM_D double nearbyint(double x) { return __builtin_rint(x); }
__KM_OVERLOAD(nearbyint)

// The functions that are made of others.
#define __KM_DEFINE(NAME, EXPRESSION)                                                              \
  __KM_D double NAME(double x) { return EXPRESSION; }                                              \
  __KM_D float NAME##f(float x) { return (float)NAME((double)x); }                                 \
  __KM_OVERLOAD(NAME)
__KM_DEFINE(exp10, __builtin_pow(10.0, x))
__KM_DEFINE(asinh, __builtin_copysign(log1p(fabs(x) + x * x / (1 + sqrt(x * x + 1))), x))
__KM_DEFINE(acosh, log1p(x - 1 + sqrt((x - 1) * (x + 1))))
__KM_DEFINE(atanh, 0.5 * log1p(2 * x / (1 - x)))
__KM_DEFINE(erf, __km_erf(x))
__KM_DEFINE(erfc, __km_erfc(x))
__KM_DEFINE(erfcx, __km_erfcx(x))
__KM_DEFINE(normcdf, 0.5 * __km_erfc(-x * 0.70710678118654752440))
__KM_DEFINE(erfinv, __km_erfinv(x))
__KM_DEFINE(erfcinv, __km_erfinv(1 - x))
__KM_DEFINE(normcdfinv, 1.41421356237309504880 * __km_erfinv(2 * x - 1))
__KM_DEFINE(lgamma, __km_lgamma(x))
__KM_DEFINE(tgamma, __km_tgamma(x))
__KM_DEFINE(sinpi, __km_sinpi(x))
__KM_DEFINE(cospi, __km_cospi(x))
__KM_DEFINE(logb, (double)__km_exponent(x))
__KM_DEFINE(rcbrt, 1 / cbrt(x))
#undef __KM_DEFINE

__KM_D float rsqrtf(float x) { return __kernelmill_rsqrt_f32(x); }
__KM_D double rsqrt(double x) { return 1 / __builtin_sqrt(x); }
__KM_OVERLOAD(rsqrt)
#undef __KM_FUNCTION
#undef __KM_OVERLOAD

#define __KM_FUNCTION_2(NAME)                                                                      \
  __KM_D float NAME##f(float x, float y) { return __builtin_##NAME##f(x, y); }                     \
  __KM_D double NAME(double x, double y) { return __builtin_##NAME(x, y); }                        \
  __KM_OVERLOAD_2(NAME)
#define __KM_OVERLOAD_2(NAME)                                                                      \
  __KM_D float NAME(float x, float y) { return NAME##f(x, y); }                                    \
  template <class T, class U>                                                                      \
  __KM_D typename __km_enable<                                                                     \
      __km_is_integer<T>::value || __km_is_integer<U>::value ||                                    \
          (sizeof(T) != sizeof(U) && sizeof(T) >= 4 && sizeof(U) >= 4 && __km_is_real<T>::value && \
           __km_is_real<U>::value),                                                                \
      double>::type                                                                                \
  NAME(T x, U y) {                                                                                 \
    return NAME((double)x, (double)y);                                                             \
  }
template <class T> struct __km_is_real { static const bool value = false; };
template <> struct __km_is_real<float> { static const bool value = true; };
template <> struct __km_is_real<double> { static const bool value = true; };
__KM_FUNCTION_2(pow) __KM_FUNCTION_2(atan2) __KM_FUNCTION_2(fmod) __KM_FUNCTION_2(hypot)
__KM_FUNCTION_2(copysign) __KM_FUNCTION_2(fmin) __KM_FUNCTION_2(fmax)
__KM_D float fdimf(float x, float y) { return x > y ? x - y : x <= y ? 0.0f : x + y; }
__KM_D double fdim(double x, double y) { return x > y ? x - y : x <= y ? 0.0 : x + y; }
__KM_OVERLOAD_2(fdim)
__KM_D double remainder(double x, double y) { return __km_remainder(x, y); }
__KM_D float remainderf(float x, float y) { return (float)__km_remainder(x, y); }
__KM_OVERLOAD_2(remainder)
__KM_D float nextafterf(float x, float y) { return __km_next<unsigned int>(x, y); }
__KM_D double nextafter(double x, double y) { return __km_next<unsigned long long>(x, y); }
__KM_OVERLOAD_2(nextafter)
#undef __KM_FUNCTION_2
#undef __KM_OVERLOAD_2

__KM_D float powif(float x, int n) { return __builtin_powif(x, n); }
__KM_D double powi(double x, int n) { return __builtin_powi(x, n); }
__KM_D float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__KM_D double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
__KM_D float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__KM_D float fdividef(float x, float y) { return x / y; }
__KM_D void sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
__KM_D void sincos(double x, double *s, double *c) { *s = sin(x), *c = cos(x); }
__KM_D void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
__KM_D void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
// Lengths of vectors: squares of floats are doubles, which no sum of them is too great or too small for.
__KM_D double rhypot(double x, double y) { return 1 / hypot(x, y); }
__KM_D float rhypotf(float x, float y) { return 1 / hypotf(x, y); }
__KM_D double __km_squares(float x, float y, float z) {
  return (double)x * x + (double)y * y + (double)z * z;
}
__KM_D double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
__KM_D double norm4d(double x, double y, double z, double w) { return hypot(norm3d(x, y, z), w); }
__KM_D float norm3df(float x, float y, float z) {
  if (__builtin_isinf(x) || __builtin_isinf(y) || __builtin_isinf(z)) return __builtin_inff();
  return (float)sqrt(__km_squares(x, y, z));
}
__KM_D float norm4df(float x, float y, float z, float w) {
  if (__builtin_isinf(x) || __builtin_isinf(y) || __builtin_isinf(z) || __builtin_isinf(w))
    return __builtin_inff();
  return (float)sqrt(__km_squares(x, y, z) + (double)w * w);
}
__KM_D double norm(int count, const double *x) {
  double length = 0;
  for (int i = 0; i < count; i++) length = hypot(length, x[i]);
  return length;
}
__KM_D float normf(int count, const float *x) {
  double sum = 0;
  bool infinite = false;
  for (int i = 0; i < count; i++) sum += (double)x[i] * x[i], infinite |= __builtin_isinf(x[i]);
  return infinite ? __builtin_inff() : (float)sqrt(sum);
}
__KM_D double rnorm3d(double x, double y, double z) { return 1 / norm3d(x, y, z); }
__KM_D double rnorm4d(double x, double y, double z, double w) { return 1 / norm4d(x, y, z, w); }
__KM_D double rnorm(int count, const double *x) { return 1 / norm(count, x); }
__KM_D float rnorm3df(float x, float y, float z) { return 1 / norm3df(x, y, z); }
__KM_D float rnorm4df(float x, float y, float z, float w) { return 1 / norm4df(x, y, z, w); }
__KM_D float rnormf(int count, const float *x) { return 1 / normf(count, x); }
__KM_D double ldexp(double x, int n) { return __km_scale(x, n); }
__KM_D float ldexpf(float x, int n) { return (float)__km_scale((double)x, n); }
__KM_D float ldexp(float x, int n) { return ldexpf(x, n); }
__KM_D double scalbn(double x, int n) { return __km_scale(x, n); }
__KM_D float scalbnf(float x, int n) { return ldexpf(x, n); }
__KM_D float scalbn(float x, int n) { return ldexpf(x, n); }
__KM_D int __km_whole(long n) { return n > 100000 ? 100000 : n < -100000 ? -100000 : (int)n; }
__KM_D double scalbln(double x, long n) { return __km_scale(x, __km_whole(n)); }
__KM_D float scalblnf(float x, long n) { return ldexpf(x, __km_whole(n)); }
__KM_D float scalbln(float x, long n) { return scalblnf(x, n); }
// The remainder, and the last three bits of the quotient with its sign.
__KM_D double remquo(double x, double y, int *quotient) {
  double rest = __km_remainder(x, y), size = __builtin_fabs(y);
  double turned = __builtin_signbit(x) ? -rest : rest;
  int bits = (int)rint((__builtin_fmod(__builtin_fabs(x), 8 * size) - turned) / size) & 7;
  if (!(size > 0) || !__builtin_isfinite(x) || __builtin_isinf(y)) bits = 0;
  *quotient = __builtin_signbit(x) != __builtin_signbit(y) ? -bits : bits;
  return rest;
}
__KM_D float remquof(float x, float y, int *quotient) { return (float)remquo((double)x, (double)y, quotient); }
__KM_D float remquo(float x, float y, int *quotient) { return remquof(x, y, quotient); }
__KM_D double frexp(double x, int *n) { return __km_fraction(x, n); }
__KM_D float frexpf(float x, int *n) { return (float)__km_fraction((double)x, n); }
__KM_D float frexp(float x, int *n) { return frexpf(x, n); }
__KM_D double modf(double x, double *whole) {
  *whole = trunc(x);
  return __builtin_copysign(__builtin_isinf(x) ? 0.0 : x - *whole, x);
}
__KM_D float modff(float x, float *whole) {
  *whole = truncf(x);
  return __builtin_copysignf(__builtin_isinf(x) ? 0.0f : x - *whole, x);
}
__KM_D float modf(float x, float *whole) { return modff(x, whole); }
__KM_D int ilogb(double x) { return __km_exponent(x); }
__KM_D int ilogbf(float x) { return __km_exponent((double)x); }
__KM_D long lrint(double x) { return (long)rint(x); }
__KM_D long lrintf(float x) { return (long)rintf(x); }
__KM_D long lround(double x) { return (long)round(x); }
__KM_D long lroundf(float x) { return (long)roundf(x); }
__KM_D long long llrint(double x) { return (long long)rint(x); }
__KM_D long long llrintf(float x) { return (long long)rintf(x); }
__KM_D long long llround(double x) { return (long long)round(x); }
__KM_D long long llroundf(float x) { return (long long)roundf(x); }
__KM_D double nan(const char *) { return __builtin_nan(""); }
__KM_D float nanf(const char *) { return __builtin_nanf(""); }

#define __KM_KIND(NAME)                                                                            \
  __KM_D bool NAME(float x) { return __builtin_##NAME(x); }                                        \
  __KM_D bool NAME(double x) { return __builtin_##NAME(x); }
__KM_KIND(isnan) __KM_KIND(isinf) __KM_KIND(isfinite) __KM_KIND(signbit)
#undef __KM_KIND

__KM_D int abs(int x) { return __builtin_abs(x); }
__KM_D long abs(long x) { return __builtin_labs(x); }
__KM_D long labs(long x) { return __builtin_labs(x); }
__KM_D long long abs(long long x) { return __builtin_llabs(x); }
__KM_D long long llabs(long long x) { return __builtin_llabs(x); }
__KM_D float abs(float x) { return __builtin_fabsf(x); }
__KM_D double abs(double x) { return __builtin_fabs(x); }
__KM_HD float min(float a, float b) { return __builtin_fminf(a, b); }
__KM_HD float max(float a, float b) { return __builtin_fmaxf(a, b); }
__KM_HD double min(double a, double b) { return __builtin_fmin(a, b); }
__KM_HD double max(double a, double b) { return __builtin_fmax(a, b); }
__KM_HD double min(float a, double b) { return __builtin_fmin(a, b); }
__KM_HD double max(float a, double b) { return __builtin_fmax(a, b); }
__KM_HD double min(double a, float b) { return __builtin_fmin(a, b); }
__KM_HD double max(double a, float b) { return __builtin_fmax(a, b); }

// The fast forms are the exact ones: what they save is on NVIDIA's processors alone.
__KM_D float __sinf(float x) { return sinf(x); }
__KM_D float __cosf(float x) { return cosf(x); }
__KM_D float __tanf(float x) { return tanf(x); }
__KM_D void __sincosf(float x, float *s, float *c) { sincosf(x, s, c); }
__KM_D float __expf(float x) { return expf(x); }
__KM_D float __exp10f(float x) { return exp10f(x); }
__KM_D float __logf(float x) { return logf(x); }
__KM_D float __log2f(float x) { return log2f(x); }
__KM_D float __log10f(float x) { return log10f(x); }
__KM_D float __powf(float x, float y) { return powf(x, y); }
__KM_D float __tanhf(float x) { return tanhf(x); }
__KM_D float __fdividef(float x, float y) { return x / y; }
__KM_D float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
__KM_D float __frsqrt_rn(float x) { return rsqrtf(x); }
__KM_D float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__KM_D float __fmaf_ieee_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__KM_D double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
// Operations that are rounded one by one: the compiler knows these names, and fuses nothing in
// them.
#define __KM_EXACT(NAME, T, OPERATOR)                                                              \
  __KM_D T __kernelmill_exact##NAME(T x, T y) { return x OPERATOR y; }                             \
  __KM_D T NAME(T x, T y) { return __kernelmill_exact##NAME(x, y); }
__KM_EXACT(__fadd_rn, float, +) __KM_EXACT(__fsub_rn, float, -) __KM_EXACT(__fmul_rn, float, *)
__KM_EXACT(__fdiv_rn, float, /) __KM_EXACT(__dadd_rn, double, +) __KM_EXACT(__dsub_rn, double, -)
__KM_EXACT(__dmul_rn, double, *) __KM_EXACT(__ddiv_rn, double, /)
#undef __KM_EXACT
__KM_D float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
__KM_D float __frcp_rn(float x) { return 1.0f / x; }
__KM_D double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
__KM_D double __drcp_rn(double x) { return 1.0 / x; }
