// Brain floating point: the upper half of a float. It is computed with as float, and rounded; on
// every target alike.
#pragma once

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
struct __nv_bfloat16_raw { unsigned short x; };
struct __attribute__((aligned(4))) __nv_bfloat162_raw { unsigned short x, y; };

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  constexpr __KM_MEMBER __nv_bfloat16(__nv_bfloat16_raw r) : __x(r.x) {}
  __KM_MEMBER __nv_bfloat16(float v) : __x(__km_f32_to_bf16(v)) {}
  __KM_MEMBER __nv_bfloat16(double v) : __x(__km_f64_to_bf16(v)) {}
  __KM_MEMBER __nv_bfloat16(short v) : __x(__km_f32_to_bf16(v)) {}
  __KM_MEMBER __nv_bfloat16(unsigned short v) : __x(__km_f32_to_bf16(v)) {}
  __KM_MEMBER __nv_bfloat16(int v) : __x(__km_f64_to_bf16(v)) {}
  __KM_MEMBER __nv_bfloat16(unsigned int v) : __x(__km_f64_to_bf16(v)) {}
  __KM_MEMBER __nv_bfloat16(long v) : __x(__km_f32_to_bf16((float)v)) {}
  __KM_MEMBER __nv_bfloat16(unsigned long v) : __x(__km_f32_to_bf16((float)v)) {}
  __KM_MEMBER __nv_bfloat16(long long v) : __x(__km_f32_to_bf16((float)v)) {}
  __KM_MEMBER __nv_bfloat16(unsigned long long v) : __x(__km_f32_to_bf16((float)v)) {}
  __KM_MEMBER operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
  __KM_MEMBER operator float() const { return __km_bf16_to_f32(__x); }
  __KM_MEMBER __nv_bfloat16 &operator=(float v) { return *this = __nv_bfloat16(v); }
  __KM_MEMBER __nv_bfloat16 &operator=(double v) { return *this = __nv_bfloat16(v); }
  __KM_MEMBER __nv_bfloat16 &operator=(short v) { return *this = __nv_bfloat16(v); }
  __KM_MEMBER __nv_bfloat16 &operator=(unsigned short v) { return *this = __nv_bfloat16(v); }
  __KM_MEMBER __nv_bfloat16 &operator=(int v) { return *this = __nv_bfloat16(v); }
  __KM_MEMBER __nv_bfloat16 &operator=(unsigned int v) { return *this = __nv_bfloat16(v); }
  __KM_MEMBER __nv_bfloat16 &operator=(long v) { return *this = __nv_bfloat16(v); }
  __KM_MEMBER __nv_bfloat16 &operator=(unsigned long v) { return *this = __nv_bfloat16(v); }
  __KM_MEMBER __nv_bfloat16 &operator=(long long v) { return *this = __nv_bfloat16(v); }
  __KM_MEMBER __nv_bfloat16 &operator=(unsigned long long v) { return *this = __nv_bfloat16(v); }
  __KM_MEMBER __nv_bfloat16 &operator=(__nv_bfloat16_raw v) { return *this = __nv_bfloat16(v); }
  __KM_MEMBER operator bool() const { return (__x & 0x7fff) != 0; }
  __KM_MEMBER operator signed char() const { return (signed char)(float)*this; }
  __KM_MEMBER operator unsigned char() const { return (unsigned char)(float)*this; }
  __KM_MEMBER operator short() const { return (short)(float)*this; }
  __KM_MEMBER operator unsigned short() const { return (unsigned short)(float)*this; }
  __KM_MEMBER operator int() const { return (int)(float)*this; }
  __KM_MEMBER operator unsigned int() const { return (unsigned int)(float)*this; }
  __KM_MEMBER operator long() const { return (long)(float)*this; }
  __KM_MEMBER operator unsigned long() const { return (unsigned long)(float)*this; }
  __KM_MEMBER operator long long() const { return (long long)(float)*this; }
  __KM_MEMBER operator unsigned long long() const { return (unsigned long long)(float)*this; }
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __KM_MEMBER __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
  __KM_MEMBER __nv_bfloat162(__nv_bfloat162_raw r) : x(__nv_bfloat16_raw{r.x}), y(__nv_bfloat16_raw{r.y}) {}
  __KM_MEMBER operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{x.__x, y.__x}; }
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

// Conversions.
__KM_HD __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
__KM_HD __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
__KM_HD __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
__KM_HD float __bfloat162float(__nv_bfloat16 x) { return (float)x; }
__KM_HD __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16(__nv_bfloat16_raw{x}); }
__KM_HD __nv_bfloat16 __short_as_bfloat16(short x) { return __nv_bfloat16(__nv_bfloat16_raw{(unsigned short)x}); }
__KM_HD unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.__x; }
__KM_HD short __bfloat16_as_short(__nv_bfloat16 x) { return (short)x.__x; }
__KM_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return __nv_bfloat162(x, x); }
__KM_HD __nv_bfloat162 __float2bfloat162_rn(float x) { return __bfloat162bfloat162(__nv_bfloat16(x)); }
__KM_HD __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(y)); }
__KM_HD __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
__KM_HD float2 __bfloat1622float2(__nv_bfloat162 v) { return make_float2((float)v.x, (float)v.y); }
__KM_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
__KM_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
__KM_HD __nv_bfloat16 __int2bfloat16_rn(int x) { return __nv_bfloat16(x); }
__KM_D int __bfloat162int_rn(__nv_bfloat16 x) { return __km_to_integer<int>(rintf((float)x)); }
__KM_D int __bfloat162int_rz(__nv_bfloat16 x) { return __km_to_integer<int>(truncf((float)x)); }
__KM_D int __bfloat162int_rd(__nv_bfloat16 x) { return __km_to_integer<int>(floorf((float)x)); }
__KM_D int __bfloat162int_ru(__nv_bfloat16 x) { return __km_to_integer<int>(ceilf((float)x)); }
__KM_HD __nv_bfloat16 __uint2bfloat16_rn(unsigned int x) { return __nv_bfloat16(x); }
__KM_D unsigned int __bfloat162uint_rn(__nv_bfloat16 x) { return __km_to_integer<unsigned int>(rintf((float)x)); }
__KM_D unsigned int __bfloat162uint_rz(__nv_bfloat16 x) { return __km_to_integer<unsigned int>(truncf((float)x)); }
__KM_D unsigned int __bfloat162uint_rd(__nv_bfloat16 x) { return __km_to_integer<unsigned int>(floorf((float)x)); }
__KM_D unsigned int __bfloat162uint_ru(__nv_bfloat16 x) { return __km_to_integer<unsigned int>(ceilf((float)x)); }
__KM_HD __nv_bfloat16 __short2bfloat16_rn(short x) { return __nv_bfloat16(x); }
__KM_D short __bfloat162short_rn(__nv_bfloat16 x) { return __km_to_integer<short>(rintf((float)x)); }
__KM_D short __bfloat162short_rz(__nv_bfloat16 x) { return __km_to_integer<short>(truncf((float)x)); }
__KM_D short __bfloat162short_rd(__nv_bfloat16 x) { return __km_to_integer<short>(floorf((float)x)); }
__KM_D short __bfloat162short_ru(__nv_bfloat16 x) { return __km_to_integer<short>(ceilf((float)x)); }
__KM_HD __nv_bfloat16 __ushort2bfloat16_rn(unsigned short x) { return __nv_bfloat16(x); }
__KM_D unsigned short __bfloat162ushort_rn(__nv_bfloat16 x) { return __km_to_integer<unsigned short>(rintf((float)x)); }
__KM_D unsigned short __bfloat162ushort_rz(__nv_bfloat16 x) { return __km_to_integer<unsigned short>(truncf((float)x)); }
__KM_D unsigned short __bfloat162ushort_rd(__nv_bfloat16 x) { return __km_to_integer<unsigned short>(floorf((float)x)); }
__KM_D unsigned short __bfloat162ushort_ru(__nv_bfloat16 x) { return __km_to_integer<unsigned short>(ceilf((float)x)); }
__KM_HD __nv_bfloat16 __ll2bfloat16_rn(long long x) { return __nv_bfloat16(x); }
__KM_D long long __bfloat162ll_rn(__nv_bfloat16 x) { return __km_to_integer<long long>(rintf((float)x)); }
__KM_D long long __bfloat162ll_rz(__nv_bfloat16 x) { return __km_to_integer<long long>(truncf((float)x)); }
__KM_D long long __bfloat162ll_rd(__nv_bfloat16 x) { return __km_to_integer<long long>(floorf((float)x)); }
__KM_D long long __bfloat162ll_ru(__nv_bfloat16 x) { return __km_to_integer<long long>(ceilf((float)x)); }
__KM_HD __nv_bfloat16 __ull2bfloat16_rn(unsigned long long x) { return __nv_bfloat16(x); }
__KM_D unsigned long long __bfloat162ull_rn(__nv_bfloat16 x) { return __km_to_integer<unsigned long long>(rintf((float)x)); }
__KM_D unsigned long long __bfloat162ull_rz(__nv_bfloat16 x) { return __km_to_integer<unsigned long long>(truncf((float)x)); }
__KM_D unsigned long long __bfloat162ull_rd(__nv_bfloat16 x) { return __km_to_integer<unsigned long long>(floorf((float)x)); }
__KM_D unsigned long long __bfloat162ull_ru(__nv_bfloat16 x) { return __km_to_integer<unsigned long long>(ceilf((float)x)); }
__KM_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
__KM_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
__KM_HD float __low2float(__nv_bfloat162 v) { return (float)v.x; }
__KM_HD float __high2float(__nv_bfloat162 v) { return (float)v.y; }
__KM_HD __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) { return __nv_bfloat162(v.x, v.x); }
__KM_HD __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) { return __nv_bfloat162(v.y, v.y); }
__KM_HD __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 v) { return __nv_bfloat162(v.y, v.x); }
__KM_HD __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
__KM_HD __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }

// Arithmetic.
__KM_HD __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a + (float)b); }
__KM_HD __nv_bfloat16 __hadd_rn(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a + (float)b); }
__KM_HD __nv_bfloat162 __hadd2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hadd(a.x, b.x), __hadd(a.y, b.y)); }
__KM_HD __nv_bfloat162 __hadd2_rn(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hadd(a.x, b.x), __hadd(a.y, b.y)); }
__KM_HD __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a - (float)b); }
__KM_HD __nv_bfloat16 __hsub_rn(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a - (float)b); }
__KM_HD __nv_bfloat162 __hsub2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hsub(a.x, b.x), __hsub(a.y, b.y)); }
__KM_HD __nv_bfloat162 __hsub2_rn(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hsub(a.x, b.x), __hsub(a.y, b.y)); }
__KM_HD __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a * (float)b); }
__KM_HD __nv_bfloat16 __hmul_rn(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a * (float)b); }
__KM_HD __nv_bfloat162 __hmul2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hmul(a.x, b.x), __hmul(a.y, b.y)); }
__KM_HD __nv_bfloat162 __hmul2_rn(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hmul(a.x, b.x), __hmul(a.y, b.y)); }
__KM_HD __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a / (float)b); }
__KM_HD __nv_bfloat162 __h2div(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
__KM_HD __nv_bfloat16 __km_saturate(__nv_bfloat16 x) {
  float v = x;
  return __nv_bfloat16(v > 0 ? (v < 1 ? v : 1.0f) : 0.0f);
}
__KM_HD __nv_bfloat16 __hadd_sat(__nv_bfloat16 a, __nv_bfloat16 b) { return __km_saturate(__hadd(a, b)); }
__KM_HD __nv_bfloat162 __hadd2_sat(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y));
}
__KM_HD __nv_bfloat16 __hsub_sat(__nv_bfloat16 a, __nv_bfloat16 b) { return __km_saturate(__hsub(a, b)); }
__KM_HD __nv_bfloat162 __hsub2_sat(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y));
}
__KM_HD __nv_bfloat16 __hmul_sat(__nv_bfloat16 a, __nv_bfloat16 b) { return __km_saturate(__hmul(a, b)); }
__KM_HD __nv_bfloat162 __hmul2_sat(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y));
}
__KM_HD __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { return __nv_bfloat16(__nv_bfloat16_raw{__km_fma_bf16(a.__x, b.__x, c.__x)}); }
__KM_HD __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return __nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
__KM_HD __nv_bfloat16 __hfma_sat(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { return __km_saturate(__hfma(a, b, c)); }
__KM_HD __nv_bfloat16 __hfma_relu(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  __nv_bfloat16 r = __hfma(a, b, c);
  return r.__x & 0x8000 && (float)r == (float)r ? __nv_bfloat16(__nv_bfloat16_raw{0}) : r;
}
__KM_HD __nv_bfloat16 __hneg(__nv_bfloat16 x) { return __nv_bfloat16(__nv_bfloat16_raw{(unsigned short)(x.__x ^ 0x8000)}); }
__KM_HD __nv_bfloat16 __habs(__nv_bfloat16 x) { return __nv_bfloat16(__nv_bfloat16_raw{(unsigned short)(x.__x & 0x7fff)}); }
__KM_HD __nv_bfloat162 __hneg2(__nv_bfloat162 v) { return __nv_bfloat162(__hneg(v.x), __hneg(v.y)); }
__KM_HD __nv_bfloat162 __habs2(__nv_bfloat162 v) { return __nv_bfloat162(__habs(v.x), __habs(v.y)); }

// Comparisons, which are false where there is NaN; the `u` forms are true.
__KM_HD bool __hisnan(__nv_bfloat16 x) { return (float)x != (float)x; }
__KM_HD int __hisinf(__nv_bfloat16 x) {
  return x.__x == 0x7f80 ? 1 : x.__x == 0xff80 ? -1 : 0;
}
__KM_HD __nv_bfloat162 __hisnan2(__nv_bfloat162 v) { return __nv_bfloat162(__nv_bfloat16((float)__hisnan(v.x)), __nv_bfloat16((float)__hisnan(v.y))); }
__KM_HD bool __heq(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a == (float)b; }
__KM_HD bool __hequ(__nv_bfloat16 a, __nv_bfloat16 b) { return __hisnan(a) || __hisnan(b) || __heq(a, b); }
__KM_HD __nv_bfloat162 __heq2(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(__nv_bfloat16((float)__heq(a.x, b.x)), __nv_bfloat16((float)__heq(a.y, b.y)));
}
__KM_HD bool __hbeq2(__nv_bfloat162 a, __nv_bfloat162 b) { return __heq(a.x, b.x) && __heq(a.y, b.y); }
__KM_HD bool __hne(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a < (float)b || (float)a > (float)b; }
__KM_HD bool __hneu(__nv_bfloat16 a, __nv_bfloat16 b) { return __hisnan(a) || __hisnan(b) || __hne(a, b); }
__KM_HD __nv_bfloat162 __hne2(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(__nv_bfloat16((float)__hne(a.x, b.x)), __nv_bfloat16((float)__hne(a.y, b.y)));
}
__KM_HD bool __hbne2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }
__KM_HD bool __hlt(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a < (float)b; }
__KM_HD bool __hltu(__nv_bfloat16 a, __nv_bfloat16 b) { return __hisnan(a) || __hisnan(b) || __hlt(a, b); }
__KM_HD __nv_bfloat162 __hlt2(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(__nv_bfloat16((float)__hlt(a.x, b.x)), __nv_bfloat16((float)__hlt(a.y, b.y)));
}
__KM_HD bool __hblt2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hlt(a.x, b.x) && __hlt(a.y, b.y); }
__KM_HD bool __hle(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a <= (float)b; }
__KM_HD bool __hleu(__nv_bfloat16 a, __nv_bfloat16 b) { return __hisnan(a) || __hisnan(b) || __hle(a, b); }
__KM_HD __nv_bfloat162 __hle2(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(__nv_bfloat16((float)__hle(a.x, b.x)), __nv_bfloat16((float)__hle(a.y, b.y)));
}
__KM_HD bool __hble2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hle(a.x, b.x) && __hle(a.y, b.y); }
__KM_HD bool __hgt(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a > (float)b; }
__KM_HD bool __hgtu(__nv_bfloat16 a, __nv_bfloat16 b) { return __hisnan(a) || __hisnan(b) || __hgt(a, b); }
__KM_HD __nv_bfloat162 __hgt2(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(__nv_bfloat16((float)__hgt(a.x, b.x)), __nv_bfloat16((float)__hgt(a.y, b.y)));
}
__KM_HD bool __hbgt2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hgt(a.x, b.x) && __hgt(a.y, b.y); }
__KM_HD bool __hge(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a >= (float)b; }
__KM_HD bool __hgeu(__nv_bfloat16 a, __nv_bfloat16 b) { return __hisnan(a) || __hisnan(b) || __hge(a, b); }
__KM_HD __nv_bfloat162 __hge2(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(__nv_bfloat16((float)__hge(a.x, b.x)), __nv_bfloat16((float)__hge(a.y, b.y)));
}
__KM_HD bool __hbge2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hge(a.x, b.x) && __hge(a.y, b.y); }
__KM_HD __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) {
  if (__hisnan(a)) return b;
  if (__hisnan(b)) return a;
  return (float)a < (float)b || (__heq(a, b) && a.__x > b.__x) ? a : b;
}
__KM_HD __nv_bfloat16 __hmin_nan(__nv_bfloat16 a, __nv_bfloat16 b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }
__KM_HD __nv_bfloat162 __hmin2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
__KM_HD __nv_bfloat162 __hmin2_nan(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y));
}
__KM_HD __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) {
  if (__hisnan(a)) return b;
  if (__hisnan(b)) return a;
  return (float)a > (float)b || (__heq(a, b) && a.__x < b.__x) ? a : b;
}
__KM_HD __nv_bfloat16 __hmax_nan(__nv_bfloat16 a, __nv_bfloat16 b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }
__KM_HD __nv_bfloat162 __hmax2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
__KM_HD __nv_bfloat162 __hmax2_nan(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y));
}

// Functions.
__KM_D __nv_bfloat16 hsqrt(__nv_bfloat16 x) { return __nv_bfloat16(__builtin_sqrtf((float)x)); }
__KM_D __nv_bfloat162 h2sqrt(__nv_bfloat162 v) { return __nv_bfloat162(hsqrt(v.x), hsqrt(v.y)); }
__KM_D __nv_bfloat16 hrsqrt(__nv_bfloat16 x) { return __nv_bfloat16(rsqrtf((float)x)); }
__KM_D __nv_bfloat162 h2rsqrt(__nv_bfloat162 v) { return __nv_bfloat162(hrsqrt(v.x), hrsqrt(v.y)); }
__KM_D __nv_bfloat16 hrcp(__nv_bfloat16 x) { return __nv_bfloat16(1.0f / (float)x); }
__KM_D __nv_bfloat162 h2rcp(__nv_bfloat162 v) { return __nv_bfloat162(hrcp(v.x), hrcp(v.y)); }
__KM_D __nv_bfloat16 hexp(__nv_bfloat16 x) { return __nv_bfloat16(expf((float)x)); }
__KM_D __nv_bfloat162 h2exp(__nv_bfloat162 v) { return __nv_bfloat162(hexp(v.x), hexp(v.y)); }
__KM_D __nv_bfloat16 hexp2(__nv_bfloat16 x) { return __nv_bfloat16(exp2f((float)x)); }
__KM_D __nv_bfloat162 h2exp2(__nv_bfloat162 v) { return __nv_bfloat162(hexp2(v.x), hexp2(v.y)); }
__KM_D __nv_bfloat16 hexp10(__nv_bfloat16 x) { return __nv_bfloat16(exp10f((float)x)); }
__KM_D __nv_bfloat162 h2exp10(__nv_bfloat162 v) { return __nv_bfloat162(hexp10(v.x), hexp10(v.y)); }
__KM_D __nv_bfloat16 hlog(__nv_bfloat16 x) { return __nv_bfloat16(logf((float)x)); }
__KM_D __nv_bfloat162 h2log(__nv_bfloat162 v) { return __nv_bfloat162(hlog(v.x), hlog(v.y)); }
__KM_D __nv_bfloat16 hlog2(__nv_bfloat16 x) { return __nv_bfloat16(log2f((float)x)); }
__KM_D __nv_bfloat162 h2log2(__nv_bfloat162 v) { return __nv_bfloat162(hlog2(v.x), hlog2(v.y)); }
__KM_D __nv_bfloat16 hlog10(__nv_bfloat16 x) { return __nv_bfloat16(log10f((float)x)); }
__KM_D __nv_bfloat162 h2log10(__nv_bfloat162 v) { return __nv_bfloat162(hlog10(v.x), hlog10(v.y)); }
__KM_D __nv_bfloat16 hsin(__nv_bfloat16 x) { return __nv_bfloat16(sinf((float)x)); }
__KM_D __nv_bfloat162 h2sin(__nv_bfloat162 v) { return __nv_bfloat162(hsin(v.x), hsin(v.y)); }
__KM_D __nv_bfloat16 hcos(__nv_bfloat16 x) { return __nv_bfloat16(cosf((float)x)); }
__KM_D __nv_bfloat162 h2cos(__nv_bfloat162 v) { return __nv_bfloat162(hcos(v.x), hcos(v.y)); }
__KM_D __nv_bfloat16 htanh(__nv_bfloat16 x) { return __nv_bfloat16(tanhf((float)x)); }
__KM_D __nv_bfloat162 h2tanh(__nv_bfloat162 v) { return __nv_bfloat162(htanh(v.x), htanh(v.y)); }
__KM_D __nv_bfloat16 hfloor(__nv_bfloat16 x) { return __nv_bfloat16(floorf((float)x)); }
__KM_D __nv_bfloat162 h2floor(__nv_bfloat162 v) { return __nv_bfloat162(hfloor(v.x), hfloor(v.y)); }
__KM_D __nv_bfloat16 hceil(__nv_bfloat16 x) { return __nv_bfloat16(ceilf((float)x)); }
__KM_D __nv_bfloat162 h2ceil(__nv_bfloat162 v) { return __nv_bfloat162(hceil(v.x), hceil(v.y)); }
__KM_D __nv_bfloat16 htrunc(__nv_bfloat16 x) { return __nv_bfloat16(truncf((float)x)); }
__KM_D __nv_bfloat162 h2trunc(__nv_bfloat162 v) { return __nv_bfloat162(htrunc(v.x), htrunc(v.y)); }
__KM_D __nv_bfloat16 hrint(__nv_bfloat16 x) { return __nv_bfloat16(rintf((float)x)); }
__KM_D __nv_bfloat162 h2rint(__nv_bfloat162 v) { return __nv_bfloat162(hrint(v.x), hrint(v.y)); }

// Operators.
__KM_HD __nv_bfloat16 operator+(__nv_bfloat16 a, __nv_bfloat16 b) { return __hadd(a, b); }
__KM_HD __nv_bfloat162 operator+(__nv_bfloat162 a, __nv_bfloat162 b) { return __hadd2(a, b); }
__KM_HD __nv_bfloat16 &operator+=(__nv_bfloat16 &a, __nv_bfloat16 b) { return a = a + b; }
__KM_HD __nv_bfloat162 &operator+=(__nv_bfloat162 &a, __nv_bfloat162 b) { return a = a + b; }
__KM_HD __nv_bfloat16 operator-(__nv_bfloat16 a, __nv_bfloat16 b) { return __hsub(a, b); }
__KM_HD __nv_bfloat162 operator-(__nv_bfloat162 a, __nv_bfloat162 b) { return __hsub2(a, b); }
__KM_HD __nv_bfloat16 &operator-=(__nv_bfloat16 &a, __nv_bfloat16 b) { return a = a - b; }
__KM_HD __nv_bfloat162 &operator-=(__nv_bfloat162 &a, __nv_bfloat162 b) { return a = a - b; }
__KM_HD __nv_bfloat16 operator*(__nv_bfloat16 a, __nv_bfloat16 b) { return __hmul(a, b); }
__KM_HD __nv_bfloat162 operator*(__nv_bfloat162 a, __nv_bfloat162 b) { return __hmul2(a, b); }
__KM_HD __nv_bfloat16 &operator*=(__nv_bfloat16 &a, __nv_bfloat16 b) { return a = a * b; }
__KM_HD __nv_bfloat162 &operator*=(__nv_bfloat162 &a, __nv_bfloat162 b) { return a = a * b; }
__KM_HD __nv_bfloat16 operator/(__nv_bfloat16 a, __nv_bfloat16 b) { return __hdiv(a, b); }
__KM_HD __nv_bfloat162 operator/(__nv_bfloat162 a, __nv_bfloat162 b) { return __h2div(a, b); }
__KM_HD __nv_bfloat16 &operator/=(__nv_bfloat16 &a, __nv_bfloat16 b) { return a = a / b; }
__KM_HD __nv_bfloat162 &operator/=(__nv_bfloat162 &a, __nv_bfloat162 b) { return a = a / b; }
__KM_HD __nv_bfloat16 operator+(__nv_bfloat16 x) { return x; }
__KM_HD __nv_bfloat16 operator-(__nv_bfloat16 x) { return __hneg(x); }
__KM_HD __nv_bfloat162 operator+(__nv_bfloat162 v) { return v; }
__KM_HD __nv_bfloat162 operator-(__nv_bfloat162 v) { return __hneg2(v); }
__KM_HD __nv_bfloat16 &operator++(__nv_bfloat16 &x) { return x = x + __nv_bfloat16(1.0f); }
__KM_HD __nv_bfloat16 &operator--(__nv_bfloat16 &x) { return x = x - __nv_bfloat16(1.0f); }
__KM_HD bool operator==(__nv_bfloat16 a, __nv_bfloat16 b) { return __heq(a, b); }
__KM_HD bool operator!=(__nv_bfloat16 a, __nv_bfloat16 b) { return __hneu(a, b); }
__KM_HD bool operator<(__nv_bfloat16 a, __nv_bfloat16 b) { return __hlt(a, b); }
__KM_HD bool operator<=(__nv_bfloat16 a, __nv_bfloat16 b) { return __hle(a, b); }
__KM_HD bool operator>(__nv_bfloat16 a, __nv_bfloat16 b) { return __hgt(a, b); }
__KM_HD bool operator>=(__nv_bfloat16 a, __nv_bfloat16 b) { return __hge(a, b); }
__KM_HD bool operator==(__nv_bfloat162 a, __nv_bfloat162 b) { return __hbeq2(a, b); }
__KM_HD bool operator<(__nv_bfloat162 a, __nv_bfloat162 b) { return __hblt2(a, b); }
__KM_HD bool operator<=(__nv_bfloat162 a, __nv_bfloat162 b) { return __hble2(a, b); }
__KM_HD bool operator>(__nv_bfloat162 a, __nv_bfloat162 b) { return __hbgt2(a, b); }
__KM_HD bool operator>=(__nv_bfloat162 a, __nv_bfloat162 b) { return __hbge2(a, b); }

// Atomic operations and shuffles; those of `warp.h` take any type.
__KM_D __nv_bfloat16 atomicAdd(__nv_bfloat16 *address, __nv_bfloat16 value) {
  return __km_atomic_update<unsigned short>(
      address, [=] __device__(__nv_bfloat16 old) { return __hadd(old, value); });
}
__KM_D __nv_bfloat162 atomicAdd(__nv_bfloat162 *address, __nv_bfloat162 value) {
  return __km_atomic_update<unsigned int>(
      address, [=] __device__(__nv_bfloat162 old) { return __hadd2(old, value); });
}
