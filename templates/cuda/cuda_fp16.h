// Half precision. Its numbers are kept as their bits, and computed with as float: the sum, product,
// quotient and root of two, rounded from float, are those that half precision itself gives, and
// where the processor has the instruction the compiler finds it.
#pragma once

struct __half_raw { unsigned short x; };
struct __attribute__((aligned(4))) __half2_raw { unsigned short x, y; };

struct __attribute__((aligned(2))) __half {
  unsigned short __x;
  __half() = default;
  constexpr __KM_MEMBER __half(__half_raw r) : __x(r.x) {}
  __KM_MEMBER __half(float v) : __x(__kernelmill_f32_to_f16(v)) {}
  __KM_MEMBER __half(double v) : __x(__kernelmill_f64_to_f16(v)) {}
  __KM_MEMBER __half(short v) : __x(__kernelmill_f32_to_f16(v)) {}
  __KM_MEMBER __half(unsigned short v) : __x(__kernelmill_f32_to_f16(v)) {}
  __KM_MEMBER __half(int v) : __x(__kernelmill_f64_to_f16(v)) {}
  __KM_MEMBER __half(unsigned int v) : __x(__kernelmill_f64_to_f16(v)) {}
  __KM_MEMBER __half(long v) : __x(__kernelmill_f32_to_f16((float)v)) {}
  __KM_MEMBER __half(unsigned long v) : __x(__kernelmill_f32_to_f16((float)v)) {}
  __KM_MEMBER __half(long long v) : __x(__kernelmill_f32_to_f16((float)v)) {}
  __KM_MEMBER __half(unsigned long long v) : __x(__kernelmill_f32_to_f16((float)v)) {}
  __KM_MEMBER operator __half_raw() const { return __half_raw{__x}; }
  __KM_MEMBER operator float() const { return __kernelmill_f16_to_f32(__x); }
  __KM_MEMBER __half &operator=(float v) { return *this = __half(v); }
  __KM_MEMBER __half &operator=(double v) { return *this = __half(v); }
  __KM_MEMBER __half &operator=(short v) { return *this = __half(v); }
  __KM_MEMBER __half &operator=(unsigned short v) { return *this = __half(v); }
  __KM_MEMBER __half &operator=(int v) { return *this = __half(v); }
  __KM_MEMBER __half &operator=(unsigned int v) { return *this = __half(v); }
  __KM_MEMBER __half &operator=(long v) { return *this = __half(v); }
  __KM_MEMBER __half &operator=(unsigned long v) { return *this = __half(v); }
  __KM_MEMBER __half &operator=(long long v) { return *this = __half(v); }
  __KM_MEMBER __half &operator=(unsigned long long v) { return *this = __half(v); }
  __KM_MEMBER __half &operator=(__half_raw v) { return *this = __half(v); }
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
struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  __KM_MEMBER __half2(__half a, __half b) : x(a), y(b) {}
  __KM_MEMBER __half2(__half2_raw r) : x(__half_raw{r.x}), y(__half_raw{r.y}) {}
  __KM_MEMBER operator __half2_raw() const { return __half2_raw{x.__x, y.__x}; }
};
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

// Conversions.
__KM_HD __half __float2half(float x) { return __half(x); }
__KM_HD __half __float2half_rn(float x) { return __half(x); }
__KM_HD __half __double2half(double x) { return __half(x); }
__KM_HD float __half2float(__half x) { return (float)x; }
__KM_HD __half __ushort_as_half(unsigned short x) { return __half(__half_raw{x}); }
__KM_HD __half __short_as_half(short x) { return __half(__half_raw{(unsigned short)x}); }
__KM_HD unsigned short __half_as_ushort(__half x) { return x.__x; }
__KM_HD short __half_as_short(__half x) { return (short)x.__x; }
__KM_HD __half2 __half2half2(__half x) { return __half2(x, x); }
__KM_HD __half2 __float2half2_rn(float x) { return __half2half2(__half(x)); }
__KM_HD __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
__KM_HD __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
__KM_HD float2 __half22float2(__half2 v) { return make_float2((float)v.x, (float)v.y); }
__KM_HD __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
__KM_HD __half2 make_half2(__half x, __half y) { return __half2(x, y); }
__KM_HD __half __int2half_rn(int x) { return __half(x); }
__KM_D int __half2int_rn(__half x) { return __km_to_integer<int>(rintf((float)x)); }
__KM_D int __half2int_rz(__half x) { return __km_to_integer<int>(truncf((float)x)); }
__KM_D int __half2int_rd(__half x) { return __km_to_integer<int>(floorf((float)x)); }
__KM_D int __half2int_ru(__half x) { return __km_to_integer<int>(ceilf((float)x)); }
__KM_HD __half __uint2half_rn(unsigned int x) { return __half(x); }
__KM_D unsigned int __half2uint_rn(__half x) { return __km_to_integer<unsigned int>(rintf((float)x)); }
__KM_D unsigned int __half2uint_rz(__half x) { return __km_to_integer<unsigned int>(truncf((float)x)); }
__KM_D unsigned int __half2uint_rd(__half x) { return __km_to_integer<unsigned int>(floorf((float)x)); }
__KM_D unsigned int __half2uint_ru(__half x) { return __km_to_integer<unsigned int>(ceilf((float)x)); }
__KM_HD __half __short2half_rn(short x) { return __half(x); }
__KM_D short __half2short_rn(__half x) { return __km_to_integer<short>(rintf((float)x)); }
__KM_D short __half2short_rz(__half x) { return __km_to_integer<short>(truncf((float)x)); }
__KM_D short __half2short_rd(__half x) { return __km_to_integer<short>(floorf((float)x)); }
__KM_D short __half2short_ru(__half x) { return __km_to_integer<short>(ceilf((float)x)); }
__KM_HD __half __ushort2half_rn(unsigned short x) { return __half(x); }
__KM_D unsigned short __half2ushort_rn(__half x) { return __km_to_integer<unsigned short>(rintf((float)x)); }
__KM_D unsigned short __half2ushort_rz(__half x) { return __km_to_integer<unsigned short>(truncf((float)x)); }
__KM_D unsigned short __half2ushort_rd(__half x) { return __km_to_integer<unsigned short>(floorf((float)x)); }
__KM_D unsigned short __half2ushort_ru(__half x) { return __km_to_integer<unsigned short>(ceilf((float)x)); }
__KM_HD __half __ll2half_rn(long long x) { return __half(x); }
__KM_D long long __half2ll_rn(__half x) { return __km_to_integer<long long>(rintf((float)x)); }
__KM_D long long __half2ll_rz(__half x) { return __km_to_integer<long long>(truncf((float)x)); }
__KM_D long long __half2ll_rd(__half x) { return __km_to_integer<long long>(floorf((float)x)); }
__KM_D long long __half2ll_ru(__half x) { return __km_to_integer<long long>(ceilf((float)x)); }
__KM_HD __half __ull2half_rn(unsigned long long x) { return __half(x); }
__KM_D unsigned long long __half2ull_rn(__half x) { return __km_to_integer<unsigned long long>(rintf((float)x)); }
__KM_D unsigned long long __half2ull_rz(__half x) { return __km_to_integer<unsigned long long>(truncf((float)x)); }
__KM_D unsigned long long __half2ull_rd(__half x) { return __km_to_integer<unsigned long long>(floorf((float)x)); }
__KM_D unsigned long long __half2ull_ru(__half x) { return __km_to_integer<unsigned long long>(ceilf((float)x)); }
__KM_HD __half __low2half(__half2 v) { return v.x; }
__KM_HD __half __high2half(__half2 v) { return v.y; }
__KM_HD float __low2float(__half2 v) { return (float)v.x; }
__KM_HD float __high2float(__half2 v) { return (float)v.y; }
__KM_HD __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
__KM_HD __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
__KM_HD __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }
__KM_HD __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
__KM_HD __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }

// Arithmetic.
__KM_HD __half __hadd(__half a, __half b) { return __half((float)a + (float)b); }
__KM_HD __half __hadd_rn(__half a, __half b) { return __half((float)a + (float)b); }
__KM_HD __half2 __hadd2(__half2 a, __half2 b) { return __half2(__hadd(a.x, b.x), __hadd(a.y, b.y)); }
__KM_HD __half2 __hadd2_rn(__half2 a, __half2 b) { return __half2(__hadd(a.x, b.x), __hadd(a.y, b.y)); }
__KM_HD __half __hsub(__half a, __half b) { return __half((float)a - (float)b); }
__KM_HD __half __hsub_rn(__half a, __half b) { return __half((float)a - (float)b); }
__KM_HD __half2 __hsub2(__half2 a, __half2 b) { return __half2(__hsub(a.x, b.x), __hsub(a.y, b.y)); }
__KM_HD __half2 __hsub2_rn(__half2 a, __half2 b) { return __half2(__hsub(a.x, b.x), __hsub(a.y, b.y)); }
__KM_HD __half __hmul(__half a, __half b) { return __half((float)a * (float)b); }
__KM_HD __half __hmul_rn(__half a, __half b) { return __half((float)a * (float)b); }
__KM_HD __half2 __hmul2(__half2 a, __half2 b) { return __half2(__hmul(a.x, b.x), __hmul(a.y, b.y)); }
__KM_HD __half2 __hmul2_rn(__half2 a, __half2 b) { return __half2(__hmul(a.x, b.x), __hmul(a.y, b.y)); }
__KM_HD __half __hdiv(__half a, __half b) { return __half((float)a / (float)b); }
__KM_HD __half2 __h2div(__half2 a, __half2 b) { return __half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
__KM_HD __half __km_saturate(__half x) {
  float v = x;
  return __half(v > 0 ? (v < 1 ? v : 1.0f) : 0.0f);
}
__KM_HD __half __hadd_sat(__half a, __half b) { return __km_saturate(__hadd(a, b)); }
__KM_HD __half2 __hadd2_sat(__half2 a, __half2 b) {
  return __half2(__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y));
}
__KM_HD __half __hsub_sat(__half a, __half b) { return __km_saturate(__hsub(a, b)); }
__KM_HD __half2 __hsub2_sat(__half2 a, __half2 b) {
  return __half2(__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y));
}
__KM_HD __half __hmul_sat(__half a, __half b) { return __km_saturate(__hmul(a, b)); }
__KM_HD __half2 __hmul2_sat(__half2 a, __half2 b) {
  return __half2(__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y));
}
__KM_HD __half __hfma(__half a, __half b, __half c) { return __half(__half_raw{__kernelmill_fma_f16(a.__x, b.__x, c.__x)}); }
__KM_HD __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
__KM_HD __half __hfma_sat(__half a, __half b, __half c) { return __km_saturate(__hfma(a, b, c)); }
__KM_HD __half __hfma_relu(__half a, __half b, __half c) {
  __half r = __hfma(a, b, c);
  return r.__x & 0x8000 && (float)r == (float)r ? __half(__half_raw{0}) : r;
}
__KM_HD __half __hneg(__half x) { return __half(__half_raw{(unsigned short)(x.__x ^ 0x8000)}); }
__KM_HD __half __habs(__half x) { return __half(__half_raw{(unsigned short)(x.__x & 0x7fff)}); }
__KM_HD __half2 __hneg2(__half2 v) { return __half2(__hneg(v.x), __hneg(v.y)); }
__KM_HD __half2 __habs2(__half2 v) { return __half2(__habs(v.x), __habs(v.y)); }

// Comparisons, which are false where there is NaN; the `u` forms are true.
__KM_HD bool __hisnan(__half x) { return (float)x != (float)x; }
__KM_HD int __hisinf(__half x) {
  return x.__x == 0x7c00 ? 1 : x.__x == 0xfc00 ? -1 : 0;
}
__KM_HD __half2 __hisnan2(__half2 v) { return __half2(__half((float)__hisnan(v.x)), __half((float)__hisnan(v.y))); }
__KM_HD bool __heq(__half a, __half b) { return (float)a == (float)b; }
__KM_HD bool __hequ(__half a, __half b) { return __hisnan(a) || __hisnan(b) || __heq(a, b); }
__KM_HD __half2 __heq2(__half2 a, __half2 b) {
  return __half2(__half((float)__heq(a.x, b.x)), __half((float)__heq(a.y, b.y)));
}
__KM_HD bool __hbeq2(__half2 a, __half2 b) { return __heq(a.x, b.x) && __heq(a.y, b.y); }
__KM_HD bool __hne(__half a, __half b) { return (float)a < (float)b || (float)a > (float)b; }
__KM_HD bool __hneu(__half a, __half b) { return __hisnan(a) || __hisnan(b) || __hne(a, b); }
__KM_HD __half2 __hne2(__half2 a, __half2 b) {
  return __half2(__half((float)__hne(a.x, b.x)), __half((float)__hne(a.y, b.y)));
}
__KM_HD bool __hbne2(__half2 a, __half2 b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }
__KM_HD bool __hlt(__half a, __half b) { return (float)a < (float)b; }
__KM_HD bool __hltu(__half a, __half b) { return __hisnan(a) || __hisnan(b) || __hlt(a, b); }
__KM_HD __half2 __hlt2(__half2 a, __half2 b) {
  return __half2(__half((float)__hlt(a.x, b.x)), __half((float)__hlt(a.y, b.y)));
}
__KM_HD bool __hblt2(__half2 a, __half2 b) { return __hlt(a.x, b.x) && __hlt(a.y, b.y); }
__KM_HD bool __hle(__half a, __half b) { return (float)a <= (float)b; }
__KM_HD bool __hleu(__half a, __half b) { return __hisnan(a) || __hisnan(b) || __hle(a, b); }
__KM_HD __half2 __hle2(__half2 a, __half2 b) {
  return __half2(__half((float)__hle(a.x, b.x)), __half((float)__hle(a.y, b.y)));
}
__KM_HD bool __hble2(__half2 a, __half2 b) { return __hle(a.x, b.x) && __hle(a.y, b.y); }
__KM_HD bool __hgt(__half a, __half b) { return (float)a > (float)b; }
__KM_HD bool __hgtu(__half a, __half b) { return __hisnan(a) || __hisnan(b) || __hgt(a, b); }
__KM_HD __half2 __hgt2(__half2 a, __half2 b) {
  return __half2(__half((float)__hgt(a.x, b.x)), __half((float)__hgt(a.y, b.y)));
}
__KM_HD bool __hbgt2(__half2 a, __half2 b) { return __hgt(a.x, b.x) && __hgt(a.y, b.y); }
__KM_HD bool __hge(__half a, __half b) { return (float)a >= (float)b; }
__KM_HD bool __hgeu(__half a, __half b) { return __hisnan(a) || __hisnan(b) || __hge(a, b); }
__KM_HD __half2 __hge2(__half2 a, __half2 b) {
  return __half2(__half((float)__hge(a.x, b.x)), __half((float)__hge(a.y, b.y)));
}
__KM_HD bool __hbge2(__half2 a, __half2 b) { return __hge(a.x, b.x) && __hge(a.y, b.y); }
__KM_HD __half __hmin(__half a, __half b) {
  if (__hisnan(a)) return b;
  if (__hisnan(b)) return a;
  return (float)a < (float)b || (__heq(a, b) && a.__x > b.__x) ? a : b;
}
__KM_HD __half __hmin_nan(__half a, __half b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }
__KM_HD __half2 __hmin2(__half2 a, __half2 b) { return __half2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
__KM_HD __half2 __hmin2_nan(__half2 a, __half2 b) {
  return __half2(__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y));
}
__KM_HD __half __hmax(__half a, __half b) {
  if (__hisnan(a)) return b;
  if (__hisnan(b)) return a;
  return (float)a > (float)b || (__heq(a, b) && a.__x < b.__x) ? a : b;
}
__KM_HD __half __hmax_nan(__half a, __half b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }
__KM_HD __half2 __hmax2(__half2 a, __half2 b) { return __half2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
__KM_HD __half2 __hmax2_nan(__half2 a, __half2 b) {
  return __half2(__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y));
}

// Functions.
__KM_D __half hsqrt(__half x) { return __half(__builtin_sqrtf((float)x)); }
__KM_D __half2 h2sqrt(__half2 v) { return __half2(hsqrt(v.x), hsqrt(v.y)); }
__KM_D __half hrsqrt(__half x) { return __half(rsqrtf((float)x)); }
__KM_D __half2 h2rsqrt(__half2 v) { return __half2(hrsqrt(v.x), hrsqrt(v.y)); }
__KM_D __half hrcp(__half x) { return __half(1.0f / (float)x); }
__KM_D __half2 h2rcp(__half2 v) { return __half2(hrcp(v.x), hrcp(v.y)); }
__KM_D __half hexp(__half x) { return __half(expf((float)x)); }
__KM_D __half2 h2exp(__half2 v) { return __half2(hexp(v.x), hexp(v.y)); }
__KM_D __half hexp2(__half x) { return __half(exp2f((float)x)); }
__KM_D __half2 h2exp2(__half2 v) { return __half2(hexp2(v.x), hexp2(v.y)); }
__KM_D __half hexp10(__half x) { return __half(exp10f((float)x)); }
__KM_D __half2 h2exp10(__half2 v) { return __half2(hexp10(v.x), hexp10(v.y)); }
__KM_D __half hlog(__half x) { return __half(logf((float)x)); }
__KM_D __half2 h2log(__half2 v) { return __half2(hlog(v.x), hlog(v.y)); }
__KM_D __half hlog2(__half x) { return __half(log2f((float)x)); }
__KM_D __half2 h2log2(__half2 v) { return __half2(hlog2(v.x), hlog2(v.y)); }
__KM_D __half hlog10(__half x) { return __half(log10f((float)x)); }
__KM_D __half2 h2log10(__half2 v) { return __half2(hlog10(v.x), hlog10(v.y)); }
__KM_D __half hsin(__half x) { return __half(sinf((float)x)); }
__KM_D __half2 h2sin(__half2 v) { return __half2(hsin(v.x), hsin(v.y)); }
__KM_D __half hcos(__half x) { return __half(cosf((float)x)); }
__KM_D __half2 h2cos(__half2 v) { return __half2(hcos(v.x), hcos(v.y)); }
__KM_D __half htanh(__half x) { return __half(tanhf((float)x)); }
__KM_D __half2 h2tanh(__half2 v) { return __half2(htanh(v.x), htanh(v.y)); }
__KM_D __half hfloor(__half x) { return __half(floorf((float)x)); }
__KM_D __half2 h2floor(__half2 v) { return __half2(hfloor(v.x), hfloor(v.y)); }
__KM_D __half hceil(__half x) { return __half(ceilf((float)x)); }
__KM_D __half2 h2ceil(__half2 v) { return __half2(hceil(v.x), hceil(v.y)); }
__KM_D __half htrunc(__half x) { return __half(truncf((float)x)); }
__KM_D __half2 h2trunc(__half2 v) { return __half2(htrunc(v.x), htrunc(v.y)); }
__KM_D __half hrint(__half x) { return __half(rintf((float)x)); }
__KM_D __half2 h2rint(__half2 v) { return __half2(hrint(v.x), hrint(v.y)); }

// Operators.
__KM_HD __half operator+(__half a, __half b) { return __hadd(a, b); }
__KM_HD __half2 operator+(__half2 a, __half2 b) { return __hadd2(a, b); }
__KM_HD __half &operator+=(__half &a, __half b) { return a = a + b; }
__KM_HD __half2 &operator+=(__half2 &a, __half2 b) { return a = a + b; }
__KM_HD __half operator-(__half a, __half b) { return __hsub(a, b); }
__KM_HD __half2 operator-(__half2 a, __half2 b) { return __hsub2(a, b); }
__KM_HD __half &operator-=(__half &a, __half b) { return a = a - b; }
__KM_HD __half2 &operator-=(__half2 &a, __half2 b) { return a = a - b; }
__KM_HD __half operator*(__half a, __half b) { return __hmul(a, b); }
__KM_HD __half2 operator*(__half2 a, __half2 b) { return __hmul2(a, b); }
__KM_HD __half &operator*=(__half &a, __half b) { return a = a * b; }
__KM_HD __half2 &operator*=(__half2 &a, __half2 b) { return a = a * b; }
__KM_HD __half operator/(__half a, __half b) { return __hdiv(a, b); }
__KM_HD __half2 operator/(__half2 a, __half2 b) { return __h2div(a, b); }
__KM_HD __half &operator/=(__half &a, __half b) { return a = a / b; }
__KM_HD __half2 &operator/=(__half2 &a, __half2 b) { return a = a / b; }
__KM_HD __half operator+(__half x) { return x; }
__KM_HD __half operator-(__half x) { return __hneg(x); }
__KM_HD __half2 operator+(__half2 v) { return v; }
__KM_HD __half2 operator-(__half2 v) { return __hneg2(v); }
__KM_HD __half &operator++(__half &x) { return x = x + __half(1.0f); }
__KM_HD __half &operator--(__half &x) { return x = x - __half(1.0f); }
__KM_HD bool operator==(__half a, __half b) { return __heq(a, b); }
__KM_HD bool operator!=(__half a, __half b) { return __hneu(a, b); }
__KM_HD bool operator<(__half a, __half b) { return __hlt(a, b); }
__KM_HD bool operator<=(__half a, __half b) { return __hle(a, b); }
__KM_HD bool operator>(__half a, __half b) { return __hgt(a, b); }
__KM_HD bool operator>=(__half a, __half b) { return __hge(a, b); }
__KM_HD bool operator==(__half2 a, __half2 b) { return __hbeq2(a, b); }
__KM_HD bool operator<(__half2 a, __half2 b) { return __hblt2(a, b); }
__KM_HD bool operator<=(__half2 a, __half2 b) { return __hble2(a, b); }
__KM_HD bool operator>(__half2 a, __half2 b) { return __hbgt2(a, b); }
__KM_HD bool operator>=(__half2 a, __half2 b) { return __hbge2(a, b); }

// Atomic operations and shuffles; those of `warp.h` take any type.
__KM_D __half atomicAdd(__half *address, __half value) {
  return __km_atomic_update<unsigned short>(
      address, [=] __device__(__half old) { return __hadd(old, value); });
}
__KM_D __half2 atomicAdd(__half2 *address, __half2 value) {
  return __km_atomic_update<unsigned int>(
      address, [=] __device__(__half2 old) { return __hadd2(old, value); });
}
