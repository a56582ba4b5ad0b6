// Conversions between numbers with a way of rounding, and between numbers and their bits.
#pragma once

#define __KM_BITS(NAME, FROM, TO)                                                                  \
  __KM_HD TO NAME(FROM x) { return __builtin_bit_cast(TO, x); }
__KM_BITS(__float_as_int, float, int)
__KM_BITS(__int_as_float, int, float)
__KM_BITS(__float_as_uint, float, unsigned int)
__KM_BITS(__uint_as_float, unsigned int, float)
__KM_BITS(__double_as_longlong, double, long long)
__KM_BITS(__longlong_as_double, long long, double)
#undef __KM_BITS
__KM_HD int __double2loint(double x) { return (int)__double_as_longlong(x); }
__KM_HD int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
__KM_HD double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)((unsigned long long)(unsigned int)high << 32 |
                                          (unsigned int)low));
}

// A rounded number as an integer: what is too great becomes the greatest. What is none becomes 0 where both have 32 bits
// or fewer, and the highest bit otherwise, as for `cvt` (PTX ISA, "Data Movement and Conversion Instructions").
template <class Integer, class Real> __KM_D Integer __km_to_integer(Real x) {
  const bool is_signed = (Integer)-1 < (Integer)0;
  const int bits = sizeof(Integer) * 8 - is_signed;
  const Integer most = (Integer)(~(unsigned long long)0 >> (64 - bits));
  const Integer least = is_signed ? (Integer)(-most - 1) : (Integer)0;
  const Real end = (Real)((unsigned long long)1 << (bits - 1)) * 2;
  if (!(x == x)) {
    const bool is_wide = sizeof(Integer) == 8 || sizeof(Real) == 8;
    return is_wide ? (Integer)((unsigned long long)1 << (sizeof(Integer) * 8 - 1)) : (Integer)0;
  }
  if (x >= end) return most;
  if (x <= (is_signed ? -end : (Real)0)) return least;
  return (Integer)x;
}
#define __KM_TO(NAME, REAL, INTEGER, SUFFIX)                                                       \
  __KM_D INTEGER NAME##_rn(REAL x) { return __km_to_integer<INTEGER>(rint##SUFFIX(x)); }           \
  __KM_D INTEGER NAME##_rz(REAL x) { return __km_to_integer<INTEGER>(trunc##SUFFIX(x)); }          \
  __KM_D INTEGER NAME##_ru(REAL x) { return __km_to_integer<INTEGER>(ceil##SUFFIX(x)); }           \
  __KM_D INTEGER NAME##_rd(REAL x) { return __km_to_integer<INTEGER>(floor##SUFFIX(x)); }
__KM_TO(__float2int, float, int, f)
__KM_TO(__float2uint, float, unsigned int, f)
__KM_TO(__float2ll, float, long long, f)
__KM_TO(__float2ull, float, unsigned long long, f)
__KM_TO(__double2int, double, int, )
__KM_TO(__double2uint, double, unsigned int, )
__KM_TO(__double2ll, double, long long, )
__KM_TO(__double2ull, double, unsigned long long, )
#undef __KM_TO
__KM_D float __int2float_rn(int x) { return (float)x; }
__KM_D float __uint2float_rn(unsigned int x) { return (float)x; }
__KM_D float __ll2float_rn(long long x) { return (float)x; }
__KM_D float __ull2float_rn(unsigned long long x) { return (float)x; }
__KM_D double __int2double_rn(int x) { return (double)x; }
__KM_D double __uint2double_rn(unsigned int x) { return (double)x; }
__KM_D double __ll2double_rn(long long x) { return (double)x; }
__KM_D double __ull2double_rn(unsigned long long x) { return (double)x; }
__KM_D float __double2float_rn(double x) { return (float)x; }
