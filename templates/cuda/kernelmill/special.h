// Functions of real numbers that no intrinsic stands for, in double precision; those for float
// are rounded from them. CUDA C++ and OpenCL C share them.
#pragma once

#ifdef __cplusplus
#define __KM_COEFFICIENTS constexpr double
#define __KM_BITS(T, value) __builtin_bit_cast(T, value)
#else
#define __KM_COEFFICIENTS const double
#define __KM_BITS(T, value) __builtin_astype(value, T)
#endif

// The value of a polynomial, given from its constant upwards.
__KM_D double __km_horner(const double *coefficients, int count, double x) {
  double sum = coefficients[count - 1];
#pragma unroll
  for (int i = count - 2; i >= 0; i--) sum = __builtin_fma(sum, x, coefficients[i]);
  return sum;
}
#define __km_polynomial(COEFFICIENTS, X)                                                           \
  __km_horner(COEFFICIENTS, sizeof(COEFFICIENTS) / sizeof(double), X)
// erf(x) for |x| <= 1, as x times a polynomial in x * x that interpolates it at Chebyshev's points;
// the largest error of the factor is 1.3e-19.
__KM_D double __km_erf_small(double x) {
  __KM_COEFFICIENTS factor[] = {
      1.128379167095512574, -3.761263890318374806e-1, 1.128379167095487867e-1,
      -2.686617064507679325e-2, 5.223977624818014467e-3, -8.548326980833789905e-4,
      1.205533111164271092e-4, -1.492559526683118157e-5, 1.646100048412136803e-6,
      -1.635031270105469501e-7, 1.465977527404743581e-8, -1.137284885679167367e-9,
      5.957176147748911404e-11};
  return x * __km_polynomial(factor, x * x);
}
// exp(x * x) * erfc(x) for x >= 1. It falls like 1 / x, so a polynomial in (x - 3) / (x + 3)
// interpolates its product with 1 + 2 * x; the largest error is 9.4e-18.
__KM_D double __km_erfcx_large(double x) {
  if (x > 1e15) return 0.56418958354775628695 / x;
  __KM_COEFFICIENTS product[] = {
      1.253008058269729656, -1.356211061245809286e-1, -4.756229435345284185e-2,
      1.296451587027206645e-1, -1.192736634151190923e-1, 6.830802734582400481e-2,
      -2.37705149258154242e-2, 2.52939177948421641e-3, 1.888690500833297694e-3,
      -7.798319227725102615e-4, -1.051613918419632782e-4, 1.250979543491314945e-4,
      4.959861428496245334e-6, -2.010207818241695988e-5, -7.6897169567559446e-7,
      3.506574001550753842e-6, 4.1803848900447068e-7, -7.289290280206628706e-7,
      -1.393357103042247578e-7, 2.197684576293202664e-7, -5.179049700804952009e-8,
      1.538891098819979003e-9};
  return __km_polynomial(product, (x - 3) / (x + 3)) / (1 + 2 * x);
}
// exp(-x * x): the square's own rounding error is added to the exponent.
__KM_D double __km_exp_of_square(double x) {
  double square = x * x, error = __builtin_fma(x, x, -square);
  return __builtin_exp(-square) * (1 - error);
}
__KM_D double __km_erfc(double x) {
  double size = __builtin_fabs(x);
  if (!(size > 1)) return 1 - __km_erf_small(x);
  double tail = size > 28 ? 0.0 : __km_exp_of_square(size) * __km_erfcx_large(size);
  return x < 0 ? 2 - tail : tail;
}
__KM_D double __km_erf(double x) {
  double size = __builtin_fabs(x);
  if (!(size > 1)) return __km_erf_small(x);
  return __builtin_copysign(1 - __km_erfc(size), x);
}
__KM_D double __km_erfcx(double x) {
  if (x >= 1) return __km_erfcx_large(x);
  return __builtin_exp(x * x) * __km_erfc(x);
}
// The inverse of erf, by Newton's method of third order from an estimate with the right ends.
__KM_D double __km_erfinv(double y) {
  double size = __builtin_fabs(y);
  if (!(size < 1)) return size == 1 ? __builtin_copysign(__builtin_inf(), y) : __builtin_nan("");
  double log = __builtin_log1p(-y * y), middle = 4.3307467508 + 0.5 * log;
  double x = __builtin_sqrt(__builtin_sqrt(middle * middle - log * 6.8027210884) - middle);
  for (int i = 0; i < 3; i++) {
    double error = size > 0.5 ? (1 - size) - __km_erfc(x) : __km_erf(x) - size;
    double step = error / (1.12837916709551257390 * __km_exp_of_square(x));
    x -= step / (1 + x * step);
  }
  return __builtin_copysign(x, y);
}

// The sine of pi times x: the whole turns come off exactly.
__KM_D double __km_sinpi(double x) {
  double turn = x - 2 * __builtin_rint(x / 2);
  double size = __builtin_fabs(turn);
  double quarter = size > 0.5 ? 1 - size : size;
  return __builtin_copysign(__builtin_sin(3.14159265358979323846 * quarter), turn);
}
__KM_D double __km_cospi(double x) {
  double turn = __builtin_fabs(x - 2 * __builtin_rint(x / 2));
  return __km_sinpi(0.5 - turn);
}
// log(gamma(x)) by Stirling's series, for x >= 10.
__KM_D double __km_stirling(double x) {
  __KM_COEFFICIENTS series[] = {1.0 / 12,      -1.0 / 360,       1.0 / 1260, -1.0 / 1680,
                               1.0 / 1188,    -691.0 / 360360,  1.0 / 156};
  double inverse = 1 / x;
  return (x - 0.5) * __builtin_log(x) - x + 0.91893853320467274178 +
         inverse * __km_polynomial(series, inverse * inverse);
}
// The product x (x + 1) ... up to below 10.
__KM_D double __km_rising(double *x) {
  double product = 1;
  for (; *x < 10; *x += 1) product *= *x;
  return product;
}
__KM_D double __km_lgamma(double x) {
  if (!(__builtin_fabs(x) < __builtin_inf())) return x * x;
  if (x <= 0 && x == __builtin_floor(x)) return __builtin_inf();
  double reflected = x < 0.5 ? 1 - x : x;
  double product = __km_rising(&reflected);
  double value = __km_stirling(reflected) - __builtin_log(product);
  if (x >= 0.5) return value;
  return __builtin_log(3.14159265358979323846 / __builtin_fabs(__km_sinpi(x))) - value;
}
__KM_D double __km_tgamma(double x) {
  if (x != x || x == __builtin_inf()) return x;
  if (x <= 0 && x == __builtin_floor(x))
    return x == 0 ? __builtin_copysign(__builtin_inf(), x) : __builtin_nan("");
  double reflected = x < 0.5 ? 1 - x : x;
  double product = __km_rising(&reflected);
  double value = __builtin_exp(__km_stirling(reflected)) / product;
  return x >= 0.5 ? value : 3.14159265358979323846 / (__km_sinpi(x) * value);
}

// x - n * y, n the whole number nearest to x / y, even where two are as near.
__KM_D double __km_remainder(double x, double y) {
  double size = __builtin_fabs(y);
  double rest = __builtin_fabs(__builtin_fmod(x, 2 * size));
  if (2 * rest > size) {
    rest -= size;
    if (2 * rest >= size) rest -= size;
  }
  return __builtin_signbit(x) ? -rest : rest;
}
#ifdef __cplusplus
// The next number after x on the way to y.
template <class Bits, class Real> __KM_D Real __km_next(Real x, Real y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  Bits bits = __builtin_bit_cast(Bits, x);
  const Bits sign = (Bits)1 << (sizeof(Bits) * 8 - 1);
  if (x == 0) bits = (__builtin_bit_cast(Bits, y) & sign) | 1;
  else bits += (x < y) == (x > 0) ? 1 : -1;
  return __builtin_bit_cast(Real, bits);
}
#endif
// The power of two in x.
__KM_D int __km_exponent(double x) {
  if (x == 0) return -2147483647 - 1;
  if (!(__builtin_fabs(x) < __builtin_inf())) return 2147483647;
  int lifted = 0;
  if (__builtin_fabs(x) < 2.2250738585072014e-308) x *= 18014398509481984.0, lifted = 54;
  return (int)(__KM_BITS(unsigned long, x) >> 52 & 2047) - 1023 - lifted;
}
// x times two to the n, in steps that do not leave the range.
__KM_D double __km_scale(double x, int n) {
  n = n > 2200 ? 2200 : n < -2200 ? -2200 : n;
  for (; n > 1000; n -= 1000) x *= 0x1p1000;
  for (; n < -900; n += 900) x *= 0x1p-900;
  return x * __KM_BITS(double, (unsigned long)(n + 1023) << 52);
}
__KM_D double __km_fraction(double x, int *n) {
  *n = 0;
  if (x == 0 || !(__builtin_fabs(x) < __builtin_inf())) return x;
  *n = __km_exponent(x) + 1;
  return __km_scale(x, -*n);
}
#undef __KM_COEFFICIENTS
#undef __KM_BITS
#undef __km_polynomial
