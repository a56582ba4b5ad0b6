// Functions of real numbers. The elementary ones are kernelmill's own on every target, so that the
// CPU and the processors of all makers give the same results; clang writes them as intrinsics.
#pragma once

float __kernelmill_rsqrt_f32(float);
#define __KM_D static inline __attribute__((always_inline))
#include "special.h"

// A function by its built-in of clang, and of floats as double ones rounded.
#define __KM_BUILTIN(NAME, BUILTIN)                                                                \
  __KM_F float NAME(float x) { return __builtin_##BUILTIN##f(x); }                                 \
  __KM_F double NAME(double x) { return __builtin_##BUILTIN(x); }                                  \
  __KM_UNARY(float, NAME, float) __KM_UNARY(double, NAME, double)
#define __KM_DEFINE(NAME, EXPRESSION)                                                              \
  __KM_F double NAME(double x) { return EXPRESSION; }                                              \
  __KM_F float NAME(float x) { return (float)NAME((double)x); }                                    \
  __KM_UNARY(float, NAME, float) __KM_UNARY(double, NAME, double)
__KM_BUILTIN(sin, sin) __KM_BUILTIN(cos, cos) __KM_BUILTIN(tan, tan) __KM_BUILTIN(asin, asin)
__KM_BUILTIN(acos, acos) __KM_BUILTIN(atan, atan) __KM_BUILTIN(sinh, sinh) __KM_BUILTIN(cosh, cosh)
__KM_BUILTIN(tanh, tanh) __KM_BUILTIN(exp, exp) __KM_BUILTIN(exp2, exp2)
__KM_BUILTIN(expm1, expm1) __KM_BUILTIN(log, log) __KM_BUILTIN(log2, log2)
__KM_BUILTIN(log10, log10) __KM_BUILTIN(log1p, log1p) __KM_BUILTIN(cbrt, cbrt)
__KM_BUILTIN(sqrt, sqrt) __KM_BUILTIN(floor, floor) __KM_BUILTIN(ceil, ceil)
__KM_BUILTIN(trunc, trunc) __KM_BUILTIN(rint, rint) __KM_BUILTIN(round, round)
__KM_BUILTIN(fabs, fabs)
__KM_DEFINE(exp10, __builtin_pow(10.0, x))
__KM_DEFINE(asinh, __builtin_copysign(log1p(fabs(x) + x * x / (1 + sqrt(x * x + 1))), x))
__KM_DEFINE(acosh, log1p(x - 1 + sqrt((x - 1) * (x + 1))))
__KM_DEFINE(atanh, 0.5 * log1p(2 * x / (1 - x)))
__KM_DEFINE(erf, __km_erf(x)) __KM_DEFINE(erfc, __km_erfc(x)) __KM_DEFINE(lgamma, __km_lgamma(x))
__KM_DEFINE(tgamma, __km_tgamma(x)) __KM_DEFINE(sinpi, __km_sinpi(x))
__KM_DEFINE(cospi, __km_cospi(x)) __KM_DEFINE(tanpi, __km_sinpi(x) / __km_cospi(x))
__KM_DEFINE(asinpi, asin(x) / M_PI) __KM_DEFINE(acospi, acos(x) / M_PI)
__KM_DEFINE(atanpi, atan(x) / M_PI)
__KM_DEFINE(logb, x == 0 ? -INFINITY : isfinite(x) ? (double)__km_exponent(x) : x * x)
#undef __KM_BUILTIN
#undef __KM_DEFINE
__KM_F float rsqrt(float x) { return __kernelmill_rsqrt_f32(x); }
__KM_F double rsqrt(double x) { return 1 / __builtin_sqrt(x); }
__KM_UNARY(float, rsqrt, float) __KM_UNARY(double, rsqrt, double)

#define __KM_BUILTIN_2(NAME)                                                                       \
  __KM_F float NAME(float x, float y) { return __builtin_##NAME##f(x, y); }                        \
  __KM_F double NAME(double x, double y) { return __builtin_##NAME(x, y); }                        \
  __KM_BINARY(float, NAME, float, float) __KM_BINARY(double, NAME, double, double)
#define __KM_DEFINE_2(NAME, T, EXPRESSION)                                                         \
  __KM_F T NAME(T x, T y) { return EXPRESSION; }                                                   \
  __KM_BINARY(T, NAME, T, T)
#define __KM_BOTH_2(NAME, EXPRESSION)                                                              \
  __KM_DEFINE_2(NAME, float, EXPRESSION) __KM_DEFINE_2(NAME, double, EXPRESSION)
__KM_BUILTIN_2(pow) __KM_BUILTIN_2(atan2) __KM_BUILTIN_2(fmod) __KM_BUILTIN_2(hypot)
__KM_BUILTIN_2(copysign) __KM_BUILTIN_2(fmin) __KM_BUILTIN_2(fmax)
__KM_BOTH_2(powr, pow(x, y)) __KM_BOTH_2(fdim, x > y ? x - y : x <= y ? 0 : x + y)
__KM_BOTH_2(remainder, __km_remainder(x, y)) __KM_BOTH_2(atan2pi, atan2(x, y) / M_PI)
__KM_BOTH_2(maxmag, fabs(x) > fabs(y) ? x : fabs(y) > fabs(x) ? y : fmax(x, y))
__KM_BOTH_2(minmag, fabs(x) < fabs(y) ? x : fabs(y) < fabs(x) ? y : fmin(x, y))
#undef __KM_BUILTIN_2
#undef __KM_BOTH_2
// The next number after x on the way to y.
#define __KM_NEXT(T, U, SIGN)                                                                      \
  __KM_F T nextafter(T x, T y) {                                                                   \
    if (x != x || y != y) return x + y;                                                            \
    if (x == y) return y;                                                                          \
    U bits = __builtin_astype(x, U);                                                               \
    if (x == 0) bits = (__builtin_astype(y, U) & SIGN) | 1;                                        \
    else bits += (x < y) == (x > 0) ? 1 : -1;                                                      \
    return __builtin_astype(bits, T);                                                              \
  }                                                                                                \
  __KM_BINARY(T, nextafter, T, T)
__KM_NEXT(float, uint, 0x80000000u) __KM_NEXT(double, ulong, 0x8000000000000000ul)
#undef __KM_NEXT

#define __KM_OF(T, LITERAL)                                                                        \
  __KM_F T fma(T x, T y, T z) { return LITERAL(x, y, z); }                                         \
  __KM_TERNARY(T, fma, T, T, T)                                                                    \
  __KM_F T ldexp(T x, int n) { return (T)__km_scale(x, n); }                                       \
  __KM_F T pown(T x, int n) { return (T)__builtin_pow((double)x, (double)n); }                     \
  __KM_F T rootn(T x, int n) {                                                                     \
    T root = (T)__builtin_pow((double)fabs(x), 1.0 / n);                                           \
    return x < 0 ? (n & 1 ? -root : NAN) : root;                                                   \
  }                                                                                                \
  __KM_BINARY(T, ldexp, T, int) __KM_BINARY(T, pown, T, int) __KM_BINARY(T, rootn, T, int)         \
  __KM_F int ilogb(T x) { return x != x ? FP_ILOGBNAN : __km_exponent(x); }                        \
  __KM_UNARY(int, ilogb, T)                                                                        \
  __KM_WIDTHS(__KM_MAD, T) __KM_VECTORS(__KM_SCALARS, T)
#define __KM_MAD(N, T)                                                                             \
  __KM_F T##N mad(T##N x, T##N y, T##N z) { return fma(x, y, z); }
#define __KM_SCALARS(N, T)                                                                         \
  __KM_F T##N fmin(T##N x, T y) { return fmin(x, (T##N)(y)); }                                     \
  __KM_F T##N fmax(T##N x, T y) { return fmax(x, (T##N)(y)); }                                     \
  __KM_F T##N ldexp(T##N x, int n) { return ldexp(x, (int##N)(n)); }
__KM_OF(float, __builtin_fmaf) __KM_OF(double, __builtin_fma)
#undef __KM_OF
#undef __KM_MAD
#undef __KM_SCALARS
__KM_F float nan(uint payload) { return __builtin_astype(0x7fc00000u | payload, float); }
__KM_F double nan(ulong payload) { return __builtin_astype(0x7ff8000000000000ul | payload, double); }
__KM_UNARY(float, nan, uint) __KM_UNARY(double, nan, ulong)

// Functions with a second result in memory, component by component.
#define __KM_TWO_OF(SPACE, T)                                                                      \
  __KM_F T sincos(T x, SPACE T *cosine) {                                                          \
    *cosine = cos(x);                                                                              \
    return sin(x);                                                                                 \
  }                                                                                                \
  __KM_F T fract(T x, SPACE T *whole) {                                                            \
    *whole = floor(x);                                                                             \
    T rest = x - *whole, most = nextafter((T)1, (T)0);                                             \
    return rest != rest ? (x != x ? x : (T)0) : fmin(rest, most);                                  \
  }                                                                                                \
  __KM_F T modf(T x, SPACE T *whole) {                                                             \
    *whole = trunc(x);                                                                             \
    return copysign(fabs(x) == (T)INFINITY ? (T)0 : x - *whole, x);                                \
  }                                                                                                \
  __KM_F T frexp(T x, SPACE int *exponent) {                                                       \
    int n;                                                                                         \
    T fraction = (T)__km_fraction(x, &n);                                                          \
    *exponent = n;                                                                                 \
    return fraction;                                                                               \
  }                                                                                                \
  __KM_SECOND(SPACE, sincos, T, T) __KM_SECOND(SPACE, fract, T, T)                                 \
  __KM_SECOND(SPACE, modf, T, T) __KM_SECOND(SPACE, frexp, T, int)
#define __KM_SECOND(SPACE, F, T, R)                                                                \
  __KM_F T##2 F(T##2 x, SPACE R##2 *second) {                                                      \
    __private R a, b;                                                                              \
    T##2 first = (T##2)(F(x.s0, &a), F(x.s1, &b));                                                 \
    *second = (R##2)(a, b);                                                                        \
    return first;                                                                                  \
  }                                                                                                \
  __KM_F T##3 F(T##3 x, SPACE R##3 *second) {                                                      \
    __private R a, b, c;                                                                           \
    T##3 first = (T##3)(F(x.s0, &a), F(x.s1, &b), F(x.s2, &c));                                    \
    *second = (R##3)(a, b, c);                                                                     \
    return first;                                                                                  \
  }                                                                                                \
  __KM_HALVES(SPACE, F, T, R, 4, 2) __KM_HALVES(SPACE, F, T, R, 8, 4)                              \
  __KM_HALVES(SPACE, F, T, R, 16, 8)
#define __KM_HALVES(SPACE, F, T, R, N, HALF)                                                       \
  __KM_F T##N F(T##N x, SPACE R##N *second) {                                                      \
    __private R##HALF a, b;                                                                        \
    T##N first = (T##N)(F(x.lo, &a), F(x.hi, &b));                                                 \
    *second = (R##N)(a, b);                                                                        \
    return first;                                                                                  \
  }
// Those of private memory stand first, because the others call them.
__KM_TWO_OF(__private, float) __KM_TWO_OF(__private, double) __KM_TWO_OF(__global, float)
__KM_TWO_OF(__global, double) __KM_TWO_OF(__local, float) __KM_TWO_OF(__local, double)
__KM_GENERIC(__KM_TWO_OF, float) __KM_GENERIC(__KM_TWO_OF, double)
#undef __KM_TWO_OF
#undef __KM_SECOND
#undef __KM_HALVES

// The fast forms are the exact ones.
#define __KM_FAST(N, NAME)                                                                         \
  __KM_F float##N half_##NAME(float##N x) { return NAME(x); }                                      \
  __KM_F float##N native_##NAME(float##N x) { return NAME(x); }
#define __KM_FASTS(NAME) __KM_WIDTHS(__KM_FAST, NAME)
__KM_FASTS(sin) __KM_FASTS(cos) __KM_FASTS(tan) __KM_FASTS(exp) __KM_FASTS(exp2) __KM_FASTS(exp10)
__KM_FASTS(log) __KM_FASTS(log2) __KM_FASTS(log10) __KM_FASTS(sqrt) __KM_FASTS(rsqrt)
#undef __KM_FASTS
#undef __KM_FAST
#define __KM_FAST(N, PREFIX)                                                                       \
  __KM_F float##N PREFIX##_recip(float##N x) { return 1 / x; }                                     \
  __KM_F float##N PREFIX##_divide(float##N x, float##N y) { return x / y; }                        \
  __KM_F float##N PREFIX##_powr(float##N x, float##N y) { return powr(x, y); }
__KM_WIDTHS(__KM_FAST, half) __KM_WIDTHS(__KM_FAST, native)
#undef __KM_FAST
