// Integers: bits, products, the smaller and the greater, and several small ones in a word.
#pragma once

__KM_HD int __popc(unsigned int x) { return __builtin_popcount(x); }
__KM_HD int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__KM_HD int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned int)x); }
__KM_HD int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
__KM_HD int __ffs(int x) { return __builtin_ffs(x); }
__KM_HD int __ffsll(long long x) { return __builtin_ffsll(x); }
__KM_HD unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
__KM_HD unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
// Four bytes of the eight of y and x, x the lower, by the digits of s; a digit with its highest
// bit set gives copies of the byte's sign.
__KM_HD unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int s) {
  unsigned long long both = (unsigned long long)y << 32 | x;
  unsigned int result = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    unsigned int digit = s >> (4 * i) & 15;
    unsigned int byte = (unsigned int)(both >> (8 * (digit & 7))) & 255;
    if (digit & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}
__KM_HD unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  unsigned long long both = (unsigned long long)high << 32 | low;
  return (unsigned int)(both << (shift & 31) >> 32);
}
__KM_HD unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  unsigned long long both = (unsigned long long)high << 32 | low;
  return (unsigned int)(both >> (shift & 31));
}
__KM_HD unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
__KM_HD unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
__KM_HD int __mul24(int x, int y) {
  return (int)((unsigned int)(x << 8 >> 8) * (unsigned int)(y << 8 >> 8));
}
__KM_HD unsigned int __umul24(unsigned int x, unsigned int y) {
  return (x & 0xffffff) * (y & 0xffffff);
}
__KM_HD int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
__KM_HD unsigned int __umulhi(unsigned int x, unsigned int y) {
  return (unsigned int)((unsigned long long)x * y >> 32);
}
__KM_HD long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
__KM_HD unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
__KM_HD unsigned int __sad(int x, int y, unsigned int z) {
  return z + (x > y ? (unsigned int)x - (unsigned int)y : (unsigned int)y - (unsigned int)x);
}
__KM_HD unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) {
  return z + (x > y ? x - y : y - x);
}
__KM_HD int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
__KM_HD int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
__KM_HD unsigned int __uhadd(unsigned int x, unsigned int y) {
  return (unsigned int)(((unsigned long long)x + y) >> 1);
}
__KM_HD unsigned int __urhadd(unsigned int x, unsigned int y) {
  return (unsigned int)(((unsigned long long)x + y + 1) >> 1);
}

// Sums of products of the bytes, or halves, of two words.
__KM_HD int __dp4a(int a, int b, int c) {
#pragma unroll
  for (int i = 0; i < 32; i += 8) c += (int)(signed char)(a >> i) * (int)(signed char)(b >> i);
  return c;
}
__KM_HD unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
#pragma unroll
  for (int i = 0; i < 32; i += 8) c += (a >> i & 255) * (b >> i & 255);
  return c;
}
__KM_HD int __dp2a_lo(int a, int b, int c) {
  return c + (int)(short)a * (signed char)b + (a >> 16) * (signed char)(b >> 8);
}
__KM_HD int __dp2a_hi(int a, int b, int c) {
  return c + (int)(short)a * (signed char)(b >> 16) + (a >> 16) * (b >> 24);
}

// Operations on the parts of a word: N parts of the type T, EXPRESSION of their values a and b.
#define __KM_PARTS(NAME, T, N, EXPRESSION)                                                         \
  __KM_HD unsigned int NAME(unsigned int x, unsigned int y) {                                      \
    const int width = 32 / N;                                                                      \
    const unsigned int part = N == 4 ? 0xffu : 0xffffu;                                            \
    const int least = -(1 << (width - 1)), most = (1 << (width - 1)) - 1;                          \
    (void)least, (void)most;                                                                       \
    unsigned int result = 0;                                                                       \
    _Pragma("unroll") for (int i = 0; i < 32; i += width) {                                        \
      int a = (T)(x >> i), b = (T)(y >> i);                                                        \
      result |= ((unsigned int)(EXPRESSION) & part) << i;                                          \
    }                                                                                              \
    return result;                                                                                 \
  }
#define __KM_CLAMP(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))
#define __KM_SIMD(N, S, U)                                                                         \
  __KM_PARTS(__vadd##N, U, N, a + b)                                                               \
  __KM_PARTS(__vsub##N, U, N, a - b)                                                               \
  __KM_PARTS(__vaddss##N, S, N, __KM_CLAMP(a + b, least, most))                                    \
  __KM_PARTS(__vsubss##N, S, N, __KM_CLAMP(a - b, least, most))                                    \
  __KM_PARTS(__vaddus##N, U, N, __KM_CLAMP(a + b, 0, (int)part))                                   \
  __KM_PARTS(__vsubus##N, U, N, __KM_CLAMP(a - b, 0, (int)part))                                   \
  __KM_PARTS(__vmaxs##N, S, N, a > b ? a : b)                                                      \
  __KM_PARTS(__vmaxu##N, U, N, a > b ? a : b)                                                      \
  __KM_PARTS(__vmins##N, S, N, a < b ? a : b)                                                      \
  __KM_PARTS(__vminu##N, U, N, a < b ? a : b)                                                      \
  __KM_PARTS(__vavgu##N, U, N, (a + b + 1) >> 1)                                                   \
  __KM_PARTS(__vhaddu##N, U, N, (a + b) >> 1)                                                      \
  __KM_PARTS(__vavgs##N, S, N, (a + b + (a + b >= 0)) >> 1)                                        \
  __KM_PARTS(__vabsdiffu##N, U, N, a > b ? a - b : b - a)                                          \
  __KM_PARTS(__vabsdiffs##N, S, N, a > b ? a - b : b - a)                                          \
  __KM_PARTS(__vcmpeq##N, U, N, a == b ? -1 : 0)                                                   \
  __KM_PARTS(__vcmpne##N, U, N, a != b ? -1 : 0)                                                   \
  __KM_PARTS(__vcmpgts##N, S, N, a > b ? -1 : 0)                                                   \
  __KM_PARTS(__vcmpgtu##N, U, N, a > b ? -1 : 0)                                                   \
  __KM_PARTS(__vcmpges##N, S, N, a >= b ? -1 : 0)                                                  \
  __KM_PARTS(__vcmpgeu##N, U, N, a >= b ? -1 : 0)                                                  \
  __KM_PARTS(__vcmplts##N, S, N, a < b ? -1 : 0)                                                   \
  __KM_PARTS(__vcmpltu##N, U, N, a < b ? -1 : 0)                                                   \
  __KM_PARTS(__vcmples##N, S, N, a <= b ? -1 : 0)                                                  \
  __KM_PARTS(__vcmpleu##N, U, N, a <= b ? -1 : 0)                                                  \
  __KM_PARTS(__vseteq##N, U, N, a == b)                                                            \
  __KM_PARTS(__vsetne##N, U, N, a != b)                                                            \
  __KM_PARTS(__vsetgts##N, S, N, a > b)                                                            \
  __KM_PARTS(__vsetgtu##N, U, N, a > b)                                                            \
  __KM_PARTS(__vsetges##N, S, N, a >= b)                                                           \
  __KM_PARTS(__vsetgeu##N, U, N, a >= b)                                                           \
  __KM_PARTS(__vsetlts##N, S, N, a < b)                                                            \
  __KM_PARTS(__vsetltu##N, U, N, a < b)                                                            \
  __KM_PARTS(__vsetles##N, S, N, a <= b)                                                           \
  __KM_PARTS(__vsetleu##N, U, N, a <= b)                                                           \
  __KM_HD unsigned int __vneg##N(unsigned int x) { return __vsub##N(0, x); }                       \
  __KM_HD unsigned int __vnegss##N(unsigned int x) { return __vsubss##N(0, x); }                   \
  __KM_HD unsigned int __vabs##N(unsigned int x) { return __vabsdiffs##N(x, 0); }                  \
  __KM_HD unsigned int __vabsss##N(unsigned int x) { return __vmaxs##N(x, __vnegss##N(x)); }       \
  __KM_HD unsigned int __vsads##N(unsigned int x, unsigned int y) {                                \
    return __km_sum_of_parts<32 / N>(__vabsdiffs##N(x, y));                                        \
  }                                                                                                \
  __KM_HD unsigned int __vsadu##N(unsigned int x, unsigned int y) {                                \
    return __km_sum_of_parts<32 / N>(__vabsdiffu##N(x, y));                                        \
  }
template <int WIDTH> __KM_HD unsigned int __km_sum_of_parts(unsigned int x) {
  unsigned int sum = 0;
  for (int i = 0; i < 32; i += WIDTH) sum += (x >> i) & ((1u << WIDTH) - 1);
  return sum;
}
__KM_SIMD(2, short, unsigned short)
__KM_SIMD(4, signed char, unsigned char)
#undef __KM_SIMD
#undef __KM_PARTS

#define __KM_MIN_MAX(T, U, RESULT)                                                                 \
  __KM_HD constexpr RESULT min(T a, U b) { return (RESULT)a < (RESULT)b ? (RESULT)a : (RESULT)b; } \
  __KM_HD constexpr RESULT max(T a, U b) { return (RESULT)a > (RESULT)b ? (RESULT)a : (RESULT)b; }
__KM_MIN_MAX(int, int, int)
__KM_MIN_MAX(unsigned int, unsigned int, unsigned int)
__KM_MIN_MAX(int, unsigned int, unsigned int)
__KM_MIN_MAX(unsigned int, int, unsigned int)
__KM_MIN_MAX(long, long, long)
__KM_MIN_MAX(unsigned long, unsigned long, unsigned long)
__KM_MIN_MAX(long, unsigned long, unsigned long)
__KM_MIN_MAX(unsigned long, long, unsigned long)
__KM_MIN_MAX(long long, long long, long long)
__KM_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
__KM_MIN_MAX(long long, unsigned long long, unsigned long long)
__KM_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef __KM_MIN_MAX

// DPX: the larger or smaller of sums, of three numbers, and of a number and zero ("relu").
#define __KM_DPX(MAX, T, TYPE, SUM, CHOICE)                                                        \
  __KM_HD T __viadd##MAX##_##TYPE(T a, T b, T c) { return CHOICE(SUM, c); }                        \
  __KM_HD T __vi##MAX##3_##TYPE(T a, T b, T c) { return CHOICE(CHOICE(a, b), c); }
#define __KM_DPX_RELU(MAX, T, TYPE, CHOICE, RELU)                                                  \
  __KM_HD T __vi##MAX##_##TYPE##_relu(T a, T b) { return RELU(CHOICE(a, b), 0); }                  \
  __KM_HD T __vi##MAX##3_##TYPE##_relu(T a, T b, T c) { return RELU(__vi##MAX##3_##TYPE(a, b, c), 0); } \
  __KM_HD T __viadd##MAX##_##TYPE##_relu(T a, T b, T c) {                                          \
    return RELU(__viadd##MAX##_##TYPE(a, b, c), 0);                                                \
  }
#define __KM_DPX_WHICH(MAX, T, TYPE, CHOICE)                                                       \
  __KM_HD T __vib##MAX##_##TYPE(T a, T b, bool *first) {                                           \
    T result = CHOICE(a, b);                                                                       \
    *first = result == a;                                                                          \
    return result;                                                                                 \
  }
#define __KM_DPX_WHICH_OF_PARTS(MAX, TYPE, CHOICE)                                                 \
  __KM_HD unsigned int __vib##MAX##_##TYPE(unsigned int a, unsigned int b, bool *high, bool *low) { \
    unsigned int result = CHOICE(a, b);                                                            \
    *high = result >> 16 == a >> 16;                                                               \
    *low = (result & 0xffffu) == (a & 0xffffu);                                                    \
    return result;                                                                                 \
  }
#define __KM_DPX_ALL(MAX)                                                                          \
  __KM_DPX(MAX, int, s32, (int)((unsigned int)a + (unsigned int)b), MAX)                           \
  __KM_DPX(MAX, unsigned int, u32, a + b, MAX)                                                     \
  __KM_DPX(MAX, unsigned int, s16x2, __vadd2(a, b), __v##MAX##s2)                                  \
  __KM_DPX(MAX, unsigned int, u16x2, __vadd2(a, b), __v##MAX##u2)                                  \
  __KM_DPX_RELU(MAX, int, s32, MAX, max)                                                           \
  __KM_DPX_RELU(MAX, unsigned int, s16x2, __v##MAX##s2, __vmaxs2)                                  \
  __KM_DPX_WHICH(MAX, int, s32, MAX)                                                               \
  __KM_DPX_WHICH(MAX, unsigned int, u32, MAX)                                                      \
  __KM_DPX_WHICH_OF_PARTS(MAX, s16x2, __v##MAX##s2)                                                \
  __KM_DPX_WHICH_OF_PARTS(MAX, u16x2, __v##MAX##u2)
__KM_DPX_ALL(max)
__KM_DPX_ALL(min)
#undef __KM_DPX_ALL
#undef __KM_DPX_WHICH_OF_PARTS
#undef __KM_DPX_WHICH
#undef __KM_DPX_RELU
#undef __KM_DPX
__KM_HD unsigned int umin(unsigned int x, unsigned int y) { return min(x, y); }
__KM_HD unsigned int umax(unsigned int x, unsigned int y) { return max(x, y); }
__KM_HD long long llmin(long long x, long long y) { return min(x, y); }
__KM_HD long long llmax(long long x, long long y) { return max(x, y); }
__KM_HD unsigned long long ullmin(unsigned long long x, unsigned long long y) { return min(x, y); }
__KM_HD unsigned long long ullmax(unsigned long long x, unsigned long long y) { return max(x, y); }
