// What both formats of 16 bits have, in the words of one: included once for each, by a header that
// defines the type `__KM_H`, the pair `__KM_H2`, their bits `__KM_H_RAW` and `__KM_H2_RAW`, the word
// `__KM_WORD` in the names of functions, the conversions and the fused operation, and the bits of
// infinity, and the other format. They are undefined again at the end.

#define __KM_PASTE(A, B, C) A##B##C
#define __KM_PASTED(A, B, C) __KM_PASTE(A, B, C)
#define __KM_NAMED(BEFORE, AFTER) __KM_PASTED(BEFORE, __KM_WORD, AFTER)
#define __KM_PASTE5(A, B, C, D, E) A##B##C##D##E
#define __KM_PASTED5(A, B, C, D, E) __KM_PASTE5(A, B, C, D, E)
#define __KM_NAMED_TWICE(BEFORE, BETWEEN, AFTER) \
  __KM_PASTED5(BEFORE, __KM_WORD, BETWEEN, __KM_WORD, AFTER)

struct __KM_OTHER_H;
struct __KM_H_RAW { unsigned short x; };
struct __attribute__((aligned(4))) __KM_H2_RAW { unsigned short x, y; };

struct __attribute__((aligned(2))) __KM_H {
  unsigned short __x;
  __KM_H() = default;
  constexpr __KM_MEMBER __KM_H(__KM_H_RAW r) : __x(r.x) {}
  __KM_MEMBER __KM_H(float v) : __x(__KM_F32_TO_H(v)) {}
  __KM_MEMBER __KM_H(double v) : __x(__KM_F64_TO_H(v)) {}
  __KM_MEMBER __KM_H(short v) : __x(__KM_F32_TO_H(v)) {}
  __KM_MEMBER __KM_H(unsigned short v) : __x(__KM_F32_TO_H(v)) {}
  __KM_MEMBER __KM_H(int v) : __x(__KM_F64_TO_H(v)) {}
  __KM_MEMBER __KM_H(unsigned int v) : __x(__KM_F64_TO_H(v)) {}
  __KM_MEMBER __KM_H(long v) : __x(__KM_F32_TO_H((float)v)) {}
  __KM_MEMBER __KM_H(unsigned long v) : __x(__KM_F32_TO_H((float)v)) {}
  __KM_MEMBER __KM_H(long long v) : __x(__KM_F32_TO_H((float)v)) {}
  __KM_MEMBER __KM_H(unsigned long long v) : __x(__KM_F32_TO_H((float)v)) {}
  explicit __KM_MEMBER __KM_H(__KM_OTHER_H v);
  __KM_MEMBER operator __KM_H_RAW() const { return __KM_H_RAW{__x}; }
  __KM_MEMBER operator float() const { return __KM_H_TO_F32(__x); }
  __KM_MEMBER __KM_H &operator=(float v) { return *this = __KM_H(v); }
  __KM_MEMBER __KM_H &operator=(double v) { return *this = __KM_H(v); }
  __KM_MEMBER __KM_H &operator=(short v) { return *this = __KM_H(v); }
  __KM_MEMBER __KM_H &operator=(unsigned short v) { return *this = __KM_H(v); }
  __KM_MEMBER __KM_H &operator=(int v) { return *this = __KM_H(v); }
  __KM_MEMBER __KM_H &operator=(unsigned int v) { return *this = __KM_H(v); }
  __KM_MEMBER __KM_H &operator=(long v) { return *this = __KM_H(v); }
  __KM_MEMBER __KM_H &operator=(unsigned long v) { return *this = __KM_H(v); }
  __KM_MEMBER __KM_H &operator=(long long v) { return *this = __KM_H(v); }
  __KM_MEMBER __KM_H &operator=(unsigned long long v) { return *this = __KM_H(v); }
  __KM_MEMBER __KM_H &operator=(__KM_H_RAW v) { return *this = __KM_H(v); }
  __KM_MEMBER operator bool() const { return (__x & 0x7fff) != 0; }
  __KM_MEMBER operator char() const { return __km_to_integer<char>((float)*this); }
  __KM_MEMBER operator signed char() const { return __km_to_integer<signed char>((float)*this); }
  __KM_MEMBER operator unsigned char() const { return __km_to_integer<unsigned char>((float)*this); }
  __KM_MEMBER operator short() const { return __km_to_integer<short>((float)*this); }
  __KM_MEMBER operator unsigned short() const { return __km_to_integer<unsigned short>((float)*this); }
  __KM_MEMBER operator int() const { return __km_to_integer<int>((float)*this); }
  __KM_MEMBER operator unsigned int() const { return __km_to_integer<unsigned int>((float)*this); }
  __KM_MEMBER operator long() const { return __km_to_integer<long>((float)*this); }
  __KM_MEMBER operator unsigned long() const { return __km_to_integer<unsigned long>((float)*this); }
  __KM_MEMBER operator long long() const { return __km_to_integer<long long>((float)*this); }
  __KM_MEMBER operator unsigned long long() const { return __km_to_integer<unsigned long long>((float)*this); }
};
struct __attribute__((aligned(4))) __KM_H2 {
  __KM_H x, y;
  __KM_H2() = default;
  __KM_MEMBER __KM_H2(__KM_H a, __KM_H b) : x(a), y(b) {}
  __KM_MEMBER __KM_H2(__KM_H2_RAW r) : x(__KM_H_RAW{r.x}), y(__KM_H_RAW{r.y}) {}
  __KM_MEMBER operator __KM_H2_RAW() const { return __KM_H2_RAW{x.__x, y.__x}; }
};
typedef __KM_H __KM_NAMED(nv_, );
typedef __KM_H2 __KM_NAMED(nv_, 2);

// Conversions.
__KM_HD __KM_H __KM_NAMED(__float2, )(float x) { return __KM_H(x); }
__KM_HD __KM_H __KM_NAMED(__float2, _rn)(float x) { return __KM_H(x); }
__KM_HD __KM_H __KM_NAMED(__double2, )(double x) { return __KM_H(x); }
__KM_HD float __KM_NAMED(__, 2float)(__KM_H x) { return (float)x; }
__KM_HD __KM_H __KM_NAMED(__ushort_as_, )(unsigned short x) { return __KM_H(__KM_H_RAW{x}); }
__KM_HD __KM_H __KM_NAMED(__short_as_, )(short x) { return __KM_H(__KM_H_RAW{(unsigned short)x}); }
__KM_HD unsigned short __KM_NAMED(__, _as_ushort)(__KM_H x) { return x.__x; }
__KM_HD short __KM_NAMED(__, _as_short)(__KM_H x) { return (short)x.__x; }
__KM_HD __KM_H2 __KM_NAMED_TWICE(__, 2, 2)(__KM_H x) { return __KM_H2(x, x); }
__KM_HD __KM_H2 __KM_NAMED(__float2, 2_rn)(float x) { return __KM_NAMED_TWICE(__, 2, 2)(__KM_H(x)); }
__KM_HD __KM_H2 __KM_NAMED(__floats2, 2_rn)(float x, float y) { return __KM_H2(__KM_H(x), __KM_H(y)); }
__KM_HD __KM_H2 __KM_NAMED(__float22, 2_rn)(float2 v) { return __KM_NAMED(__floats2, 2_rn)(v.x, v.y); }
__KM_HD float2 __KM_NAMED(__, 22float2)(__KM_H2 v) { return make_float2((float)v.x, (float)v.y); }
__KM_HD __KM_H2 __KM_NAMED(__halves2, 2)(__KM_H x, __KM_H y) { return __KM_H2(x, y); }
__KM_HD __KM_H2 __KM_NAMED(make_, 2)(__KM_H x, __KM_H y) { return __KM_H2(x, y); }
__KM_HD __KM_H __KM_NAMED(__int2, _rn)(int x) { return __KM_H(x); }
__KM_D int __KM_NAMED(__, 2int_rn)(__KM_H x) { return __km_to_integer<int>(rintf((float)x)); }
__KM_D int __KM_NAMED(__, 2int_rz)(__KM_H x) { return __km_to_integer<int>(truncf((float)x)); }
__KM_D int __KM_NAMED(__, 2int_rd)(__KM_H x) { return __km_to_integer<int>(floorf((float)x)); }
__KM_D int __KM_NAMED(__, 2int_ru)(__KM_H x) { return __km_to_integer<int>(ceilf((float)x)); }
__KM_HD __KM_H __KM_NAMED(__uint2, _rn)(unsigned int x) { return __KM_H(x); }
__KM_D unsigned int __KM_NAMED(__, 2uint_rn)(__KM_H x) { return __km_to_integer<unsigned int>(rintf((float)x)); }
__KM_D unsigned int __KM_NAMED(__, 2uint_rz)(__KM_H x) { return __km_to_integer<unsigned int>(truncf((float)x)); }
__KM_D unsigned int __KM_NAMED(__, 2uint_rd)(__KM_H x) { return __km_to_integer<unsigned int>(floorf((float)x)); }
__KM_D unsigned int __KM_NAMED(__, 2uint_ru)(__KM_H x) { return __km_to_integer<unsigned int>(ceilf((float)x)); }
__KM_D signed char __KM_NAMED(__, 2char_rz)(__KM_H x) { return __km_to_integer<signed char>((float)x); }
__KM_D unsigned char __KM_NAMED(__, 2uchar_rz)(__KM_H x) { return __km_to_integer<unsigned char>((float)x); }
__KM_HD __KM_H __KM_NAMED(__short2, _rn)(short x) { return __KM_H(x); }
__KM_D short __KM_NAMED(__, 2short_rn)(__KM_H x) { return __km_to_integer<short>(rintf((float)x)); }
__KM_D short __KM_NAMED(__, 2short_rz)(__KM_H x) { return __km_to_integer<short>(truncf((float)x)); }
__KM_D short __KM_NAMED(__, 2short_rd)(__KM_H x) { return __km_to_integer<short>(floorf((float)x)); }
__KM_D short __KM_NAMED(__, 2short_ru)(__KM_H x) { return __km_to_integer<short>(ceilf((float)x)); }
__KM_HD __KM_H __KM_NAMED(__ushort2, _rn)(unsigned short x) { return __KM_H(x); }
__KM_D unsigned short __KM_NAMED(__, 2ushort_rn)(__KM_H x) { return __km_to_integer<unsigned short>(rintf((float)x)); }
__KM_D unsigned short __KM_NAMED(__, 2ushort_rz)(__KM_H x) { return __km_to_integer<unsigned short>(truncf((float)x)); }
__KM_D unsigned short __KM_NAMED(__, 2ushort_rd)(__KM_H x) { return __km_to_integer<unsigned short>(floorf((float)x)); }
__KM_D unsigned short __KM_NAMED(__, 2ushort_ru)(__KM_H x) { return __km_to_integer<unsigned short>(ceilf((float)x)); }
__KM_HD __KM_H __KM_NAMED(__ll2, _rn)(long long x) { return __KM_H(x); }
__KM_D long long __KM_NAMED(__, 2ll_rn)(__KM_H x) { return __km_to_integer<long long>(rintf((float)x)); }
__KM_D long long __KM_NAMED(__, 2ll_rz)(__KM_H x) { return __km_to_integer<long long>(truncf((float)x)); }
__KM_D long long __KM_NAMED(__, 2ll_rd)(__KM_H x) { return __km_to_integer<long long>(floorf((float)x)); }
__KM_D long long __KM_NAMED(__, 2ll_ru)(__KM_H x) { return __km_to_integer<long long>(ceilf((float)x)); }
__KM_HD __KM_H __KM_NAMED(__ull2, _rn)(unsigned long long x) { return __KM_H(x); }
__KM_D unsigned long long __KM_NAMED(__, 2ull_rn)(__KM_H x) { return __km_to_integer<unsigned long long>(rintf((float)x)); }
__KM_D unsigned long long __KM_NAMED(__, 2ull_rz)(__KM_H x) { return __km_to_integer<unsigned long long>(truncf((float)x)); }
__KM_D unsigned long long __KM_NAMED(__, 2ull_rd)(__KM_H x) { return __km_to_integer<unsigned long long>(floorf((float)x)); }
__KM_D unsigned long long __KM_NAMED(__, 2ull_ru)(__KM_H x) { return __km_to_integer<unsigned long long>(ceilf((float)x)); }
__KM_HD __KM_H __KM_NAMED(__low2, )(__KM_H2 v) { return v.x; }
__KM_HD __KM_H __KM_NAMED(__high2, )(__KM_H2 v) { return v.y; }
__KM_HD float __low2float(__KM_H2 v) { return (float)v.x; }
__KM_HD float __high2float(__KM_H2 v) { return (float)v.y; }
__KM_HD __KM_H2 __KM_NAMED(__low2, 2)(__KM_H2 v) { return __KM_H2(v.x, v.x); }
__KM_HD __KM_H2 __KM_NAMED(__high2, 2)(__KM_H2 v) { return __KM_H2(v.y, v.y); }
__KM_HD __KM_H2 __lowhigh2highlow(__KM_H2 v) { return __KM_H2(v.y, v.x); }
__KM_HD __KM_H2 __KM_NAMED(__lows2, 2)(__KM_H2 a, __KM_H2 b) { return __KM_H2(a.x, b.x); }
__KM_HD __KM_H2 __KM_NAMED(__highs2, 2)(__KM_H2 a, __KM_H2 b) { return __KM_H2(a.y, b.y); }

// Arithmetic.
__KM_HD __KM_H __hadd(__KM_H a, __KM_H b) { return __KM_H((float)a + (float)b); }
__KM_HD __KM_H __hadd_rn(__KM_H a, __KM_H b) { return __KM_H((float)a + (float)b); }
__KM_HD __KM_H2 __hadd2(__KM_H2 a, __KM_H2 b) { return __KM_H2(__hadd(a.x, b.x), __hadd(a.y, b.y)); }
__KM_HD __KM_H2 __hadd2_rn(__KM_H2 a, __KM_H2 b) { return __KM_H2(__hadd(a.x, b.x), __hadd(a.y, b.y)); }
__KM_HD __KM_H __hsub(__KM_H a, __KM_H b) { return __KM_H((float)a - (float)b); }
__KM_HD __KM_H __hsub_rn(__KM_H a, __KM_H b) { return __KM_H((float)a - (float)b); }
__KM_HD __KM_H2 __hsub2(__KM_H2 a, __KM_H2 b) { return __KM_H2(__hsub(a.x, b.x), __hsub(a.y, b.y)); }
__KM_HD __KM_H2 __hsub2_rn(__KM_H2 a, __KM_H2 b) { return __KM_H2(__hsub(a.x, b.x), __hsub(a.y, b.y)); }
__KM_HD __KM_H __hmul(__KM_H a, __KM_H b) { return __KM_H((float)a * (float)b); }
__KM_HD __KM_H __hmul_rn(__KM_H a, __KM_H b) { return __KM_H((float)a * (float)b); }
__KM_HD __KM_H2 __hmul2(__KM_H2 a, __KM_H2 b) { return __KM_H2(__hmul(a.x, b.x), __hmul(a.y, b.y)); }
__KM_HD __KM_H2 __hmul2_rn(__KM_H2 a, __KM_H2 b) { return __KM_H2(__hmul(a.x, b.x), __hmul(a.y, b.y)); }
__KM_HD __KM_H __hdiv(__KM_H a, __KM_H b) { return __KM_H((float)a / (float)b); }
__KM_HD __KM_H2 __h2div(__KM_H2 a, __KM_H2 b) { return __KM_H2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
__KM_HD __KM_H __km_saturate(__KM_H x) {
  float v = x;
  return __KM_H(v > 0 ? (v < 1 ? v : 1.0f) : 0.0f);
}
__KM_HD __KM_H __hadd_sat(__KM_H a, __KM_H b) { return __km_saturate(__hadd(a, b)); }
__KM_HD __KM_H2 __hadd2_sat(__KM_H2 a, __KM_H2 b) {
  return __KM_H2(__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y));
}
__KM_HD __KM_H __hsub_sat(__KM_H a, __KM_H b) { return __km_saturate(__hsub(a, b)); }
__KM_HD __KM_H2 __hsub2_sat(__KM_H2 a, __KM_H2 b) {
  return __KM_H2(__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y));
}
__KM_HD __KM_H __hmul_sat(__KM_H a, __KM_H b) { return __km_saturate(__hmul(a, b)); }
__KM_HD __KM_H2 __hmul2_sat(__KM_H2 a, __KM_H2 b) {
  return __KM_H2(__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y));
}
__KM_HD __KM_H __hfma(__KM_H a, __KM_H b, __KM_H c) { return __KM_H(__KM_H_RAW{__KM_FMA_H(a.__x, b.__x, c.__x)}); }
__KM_HD __KM_H2 __hfma2(__KM_H2 a, __KM_H2 b, __KM_H2 c) {
  return __KM_H2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
__KM_HD __KM_H __hfma_sat(__KM_H a, __KM_H b, __KM_H c) { return __km_saturate(__hfma(a, b, c)); }
__KM_HD __KM_H __hfma_relu(__KM_H a, __KM_H b, __KM_H c) {
  __KM_H r = __hfma(a, b, c);
  return r.__x & 0x8000 && (float)r == (float)r ? __KM_H(__KM_H_RAW{0}) : r;
}
__KM_HD __KM_H __hneg(__KM_H x) { return __KM_H(__KM_H_RAW{(unsigned short)(x.__x ^ 0x8000)}); }
__KM_HD __KM_H __habs(__KM_H x) { return __KM_H(__KM_H_RAW{(unsigned short)(x.__x & 0x7fff)}); }
__KM_HD __KM_H2 __hneg2(__KM_H2 v) { return __KM_H2(__hneg(v.x), __hneg(v.y)); }
__KM_HD __KM_H2 __habs2(__KM_H2 v) { return __KM_H2(__habs(v.x), __habs(v.y)); }

// Comparisons, which are false where there is NaN; the `u` forms are true.
__KM_HD bool __hisnan(__KM_H x) { return (float)x != (float)x; }
__KM_HD int __hisinf(__KM_H x) {
  return x.__x == __KM_H_INFINITY ? 1 : x.__x == (__KM_H_INFINITY | 0x8000) ? -1 : 0;
}
__KM_HD __KM_H2 __hisnan2(__KM_H2 v) { return __KM_H2(__KM_H((float)__hisnan(v.x)), __KM_H((float)__hisnan(v.y))); }
__KM_HD bool __heq(__KM_H a, __KM_H b) { return (float)a == (float)b; }
__KM_HD bool __hequ(__KM_H a, __KM_H b) { return __hisnan(a) || __hisnan(b) || __heq(a, b); }
__KM_HD __KM_H2 __heq2(__KM_H2 a, __KM_H2 b) {
  return __KM_H2(__KM_H((float)__heq(a.x, b.x)), __KM_H((float)__heq(a.y, b.y)));
}
__KM_HD bool __hbeq2(__KM_H2 a, __KM_H2 b) { return __heq(a.x, b.x) && __heq(a.y, b.y); }
__KM_HD bool __hne(__KM_H a, __KM_H b) { return (float)a < (float)b || (float)a > (float)b; }
__KM_HD bool __hneu(__KM_H a, __KM_H b) { return __hisnan(a) || __hisnan(b) || __hne(a, b); }
__KM_HD __KM_H2 __hne2(__KM_H2 a, __KM_H2 b) {
  return __KM_H2(__KM_H((float)__hne(a.x, b.x)), __KM_H((float)__hne(a.y, b.y)));
}
__KM_HD bool __hbne2(__KM_H2 a, __KM_H2 b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }
__KM_HD bool __hlt(__KM_H a, __KM_H b) { return (float)a < (float)b; }
__KM_HD bool __hltu(__KM_H a, __KM_H b) { return __hisnan(a) || __hisnan(b) || __hlt(a, b); }
__KM_HD __KM_H2 __hlt2(__KM_H2 a, __KM_H2 b) {
  return __KM_H2(__KM_H((float)__hlt(a.x, b.x)), __KM_H((float)__hlt(a.y, b.y)));
}
__KM_HD bool __hblt2(__KM_H2 a, __KM_H2 b) { return __hlt(a.x, b.x) && __hlt(a.y, b.y); }
__KM_HD bool __hle(__KM_H a, __KM_H b) { return (float)a <= (float)b; }
__KM_HD bool __hleu(__KM_H a, __KM_H b) { return __hisnan(a) || __hisnan(b) || __hle(a, b); }
__KM_HD __KM_H2 __hle2(__KM_H2 a, __KM_H2 b) {
  return __KM_H2(__KM_H((float)__hle(a.x, b.x)), __KM_H((float)__hle(a.y, b.y)));
}
__KM_HD bool __hble2(__KM_H2 a, __KM_H2 b) { return __hle(a.x, b.x) && __hle(a.y, b.y); }
__KM_HD bool __hgt(__KM_H a, __KM_H b) { return (float)a > (float)b; }
__KM_HD bool __hgtu(__KM_H a, __KM_H b) { return __hisnan(a) || __hisnan(b) || __hgt(a, b); }
__KM_HD __KM_H2 __hgt2(__KM_H2 a, __KM_H2 b) {
  return __KM_H2(__KM_H((float)__hgt(a.x, b.x)), __KM_H((float)__hgt(a.y, b.y)));
}
__KM_HD bool __hbgt2(__KM_H2 a, __KM_H2 b) { return __hgt(a.x, b.x) && __hgt(a.y, b.y); }
__KM_HD bool __hge(__KM_H a, __KM_H b) { return (float)a >= (float)b; }
__KM_HD bool __hgeu(__KM_H a, __KM_H b) { return __hisnan(a) || __hisnan(b) || __hge(a, b); }
__KM_HD __KM_H2 __hge2(__KM_H2 a, __KM_H2 b) {
  return __KM_H2(__KM_H((float)__hge(a.x, b.x)), __KM_H((float)__hge(a.y, b.y)));
}
__KM_HD bool __hbge2(__KM_H2 a, __KM_H2 b) { return __hge(a.x, b.x) && __hge(a.y, b.y); }
__KM_HD __KM_H __hmin(__KM_H a, __KM_H b) {
  if (__hisnan(a)) return b;
  if (__hisnan(b)) return a;
  return (float)a < (float)b || (__heq(a, b) && a.__x > b.__x) ? a : b;
}
__KM_HD __KM_H __hmin_nan(__KM_H a, __KM_H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }
__KM_HD __KM_H2 __hmin2(__KM_H2 a, __KM_H2 b) { return __KM_H2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
__KM_HD __KM_H2 __hmin2_nan(__KM_H2 a, __KM_H2 b) {
  return __KM_H2(__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y));
}
__KM_HD __KM_H __hmax(__KM_H a, __KM_H b) {
  if (__hisnan(a)) return b;
  if (__hisnan(b)) return a;
  return (float)a > (float)b || (__heq(a, b) && a.__x < b.__x) ? a : b;
}
__KM_HD __KM_H __hmax_nan(__KM_H a, __KM_H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }
__KM_HD __KM_H2 __hmax2(__KM_H2 a, __KM_H2 b) { return __KM_H2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
__KM_HD __KM_H2 __hmax2_nan(__KM_H2 a, __KM_H2 b) {
  return __KM_H2(__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y));
}

// Functions.
__KM_D __KM_H hsqrt(__KM_H x) { return __KM_H(__builtin_sqrtf((float)x)); }
__KM_D __KM_H2 h2sqrt(__KM_H2 v) { return __KM_H2(hsqrt(v.x), hsqrt(v.y)); }
__KM_D __KM_H hrsqrt(__KM_H x) { return __KM_H(rsqrtf((float)x)); }
__KM_D __KM_H2 h2rsqrt(__KM_H2 v) { return __KM_H2(hrsqrt(v.x), hrsqrt(v.y)); }
__KM_D __KM_H hrcp(__KM_H x) { return __KM_H(1.0f / (float)x); }
__KM_D __KM_H2 h2rcp(__KM_H2 v) { return __KM_H2(hrcp(v.x), hrcp(v.y)); }
__KM_D __KM_H hexp(__KM_H x) { return __KM_H(expf((float)x)); }
__KM_D __KM_H2 h2exp(__KM_H2 v) { return __KM_H2(hexp(v.x), hexp(v.y)); }
__KM_D __KM_H hexp2(__KM_H x) { return __KM_H(exp2f((float)x)); }
__KM_D __KM_H2 h2exp2(__KM_H2 v) { return __KM_H2(hexp2(v.x), hexp2(v.y)); }
__KM_D __KM_H hexp10(__KM_H x) { return __KM_H(exp10f((float)x)); }
__KM_D __KM_H2 h2exp10(__KM_H2 v) { return __KM_H2(hexp10(v.x), hexp10(v.y)); }
__KM_D __KM_H hlog(__KM_H x) { return __KM_H(logf((float)x)); }
__KM_D __KM_H2 h2log(__KM_H2 v) { return __KM_H2(hlog(v.x), hlog(v.y)); }
__KM_D __KM_H hlog2(__KM_H x) { return __KM_H(log2f((float)x)); }
__KM_D __KM_H2 h2log2(__KM_H2 v) { return __KM_H2(hlog2(v.x), hlog2(v.y)); }
__KM_D __KM_H hlog10(__KM_H x) { return __KM_H(log10f((float)x)); }
__KM_D __KM_H2 h2log10(__KM_H2 v) { return __KM_H2(hlog10(v.x), hlog10(v.y)); }
__KM_D __KM_H hsin(__KM_H x) { return __KM_H(sinf((float)x)); }
__KM_D __KM_H2 h2sin(__KM_H2 v) { return __KM_H2(hsin(v.x), hsin(v.y)); }
__KM_D __KM_H hcos(__KM_H x) { return __KM_H(cosf((float)x)); }
__KM_D __KM_H2 h2cos(__KM_H2 v) { return __KM_H2(hcos(v.x), hcos(v.y)); }
__KM_D __KM_H htanh(__KM_H x) { return __KM_H(tanhf((float)x)); }
__KM_D __KM_H2 h2tanh(__KM_H2 v) { return __KM_H2(htanh(v.x), htanh(v.y)); }
__KM_D __KM_H hfloor(__KM_H x) { return __KM_H(floorf((float)x)); }
__KM_D __KM_H2 h2floor(__KM_H2 v) { return __KM_H2(hfloor(v.x), hfloor(v.y)); }
__KM_D __KM_H hceil(__KM_H x) { return __KM_H(ceilf((float)x)); }
__KM_D __KM_H2 h2ceil(__KM_H2 v) { return __KM_H2(hceil(v.x), hceil(v.y)); }
__KM_D __KM_H htrunc(__KM_H x) { return __KM_H(truncf((float)x)); }
__KM_D __KM_H2 h2trunc(__KM_H2 v) { return __KM_H2(htrunc(v.x), htrunc(v.y)); }
__KM_D __KM_H hrint(__KM_H x) { return __KM_H(rintf((float)x)); }
__KM_D __KM_H2 h2rint(__KM_H2 v) { return __KM_H2(hrint(v.x), hrint(v.y)); }

// Operators.
__KM_HD __KM_H operator+(__KM_H a, __KM_H b) { return __hadd(a, b); }
__KM_HD __KM_H2 operator+(__KM_H2 a, __KM_H2 b) { return __hadd2(a, b); }
__KM_HD __KM_H &operator+=(__KM_H &a, __KM_H b) { return a = a + b; }
__KM_HD __KM_H2 &operator+=(__KM_H2 &a, __KM_H2 b) { return a = a + b; }
__KM_HD __KM_H operator-(__KM_H a, __KM_H b) { return __hsub(a, b); }
__KM_HD __KM_H2 operator-(__KM_H2 a, __KM_H2 b) { return __hsub2(a, b); }
__KM_HD __KM_H &operator-=(__KM_H &a, __KM_H b) { return a = a - b; }
__KM_HD __KM_H2 &operator-=(__KM_H2 &a, __KM_H2 b) { return a = a - b; }
__KM_HD __KM_H operator*(__KM_H a, __KM_H b) { return __hmul(a, b); }
__KM_HD __KM_H2 operator*(__KM_H2 a, __KM_H2 b) { return __hmul2(a, b); }
__KM_HD __KM_H &operator*=(__KM_H &a, __KM_H b) { return a = a * b; }
__KM_HD __KM_H2 &operator*=(__KM_H2 &a, __KM_H2 b) { return a = a * b; }
__KM_HD __KM_H operator/(__KM_H a, __KM_H b) { return __hdiv(a, b); }
__KM_HD __KM_H2 operator/(__KM_H2 a, __KM_H2 b) { return __h2div(a, b); }
__KM_HD __KM_H &operator/=(__KM_H &a, __KM_H b) { return a = a / b; }
__KM_HD __KM_H2 &operator/=(__KM_H2 &a, __KM_H2 b) { return a = a / b; }
__KM_HD __KM_H operator+(__KM_H x) { return x; }
__KM_HD __KM_H operator-(__KM_H x) { return __hneg(x); }
__KM_HD __KM_H2 operator+(__KM_H2 v) { return v; }
__KM_HD __KM_H2 operator-(__KM_H2 v) { return __hneg2(v); }
__KM_HD __KM_H &operator++(__KM_H &x) { return x = x + __KM_H(1.0f); }
__KM_HD __KM_H &operator--(__KM_H &x) { return x = x - __KM_H(1.0f); }
__KM_HD bool operator==(__KM_H a, __KM_H b) { return __heq(a, b); }
__KM_HD bool operator!=(__KM_H a, __KM_H b) { return __hneu(a, b); }
__KM_HD bool operator<(__KM_H a, __KM_H b) { return __hlt(a, b); }
__KM_HD bool operator<=(__KM_H a, __KM_H b) { return __hle(a, b); }
__KM_HD bool operator>(__KM_H a, __KM_H b) { return __hgt(a, b); }
__KM_HD bool operator>=(__KM_H a, __KM_H b) { return __hge(a, b); }
__KM_HD bool operator==(__KM_H2 a, __KM_H2 b) { return __hbeq2(a, b); }
__KM_HD bool operator<(__KM_H2 a, __KM_H2 b) { return __hblt2(a, b); }
__KM_HD bool operator<=(__KM_H2 a, __KM_H2 b) { return __hble2(a, b); }
__KM_HD bool operator>(__KM_H2 a, __KM_H2 b) { return __hbgt2(a, b); }
__KM_HD bool operator>=(__KM_H2 a, __KM_H2 b) { return __hbge2(a, b); }

// Atomic operations and shuffles; those of `warp.h` take any type.
__KM_D __KM_H atomicAdd(__KM_H *address, __KM_H value) {
  return __km_atomic_update<unsigned short>(
      address, [=] __device__(__KM_H old) { return __hadd(old, value); });
}
__KM_D __KM_H2 atomicAdd(__KM_H2 *address, __KM_H2 value) {
  return __km_atomic_update<unsigned int>(
      address, [=] __device__(__KM_H2 old) { return __hadd2(old, value); });
}

#undef __KM_PASTE
#undef __KM_PASTED
#undef __KM_PASTE5
#undef __KM_PASTED5
#undef __KM_NAMED
#undef __KM_NAMED_TWICE
#undef __KM_H
#undef __KM_H2
#undef __KM_H_RAW
#undef __KM_H2_RAW
#undef __KM_WORD
#undef __KM_H_TO_F32
#undef __KM_F32_TO_H
#undef __KM_F64_TO_H
#undef __KM_FMA_H
#undef __KM_H_INFINITY
#undef __KM_OTHER_H
