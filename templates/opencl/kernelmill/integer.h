// Integer functions.
#pragma once

#define __KM_COMMON(T, U, BITS, MIN, MAX)                                                          \
  __KM_F T min(T x, T y) { return y < x ? y : x; }                                                 \
  __KM_F T max(T x, T y) { return x < y ? y : x; }                                                 \
  __KM_F T clamp(T x, T low, T high) { return min(max(x, low), high); }                            \
  __KM_F U abs_diff(T x, T y) { return x > y ? (U)((U)x - (U)y) : (U)((U)y - (U)x); }              \
  __KM_F T hadd(T x, T y) { return (T)((x >> 1) + (y >> 1) + (x & y & 1)); }                       \
  __KM_F T rhadd(T x, T y) { return (T)((x >> 1) + (y >> 1) + ((x | y) & 1)); }                    \
  __KM_F T rotate(T x, T y) {                                                                      \
    return (T)((U)x << (y & (BITS - 1)) | (U)x >> ((BITS - (y & (BITS - 1))) & (BITS - 1)));       \
  }                                                                                                \
  __KM_F T popcount(T x) { return (T)__builtin_popcountl((ulong)(U)x); }                           \
  __KM_F T clz(T x) { return x == 0 ? BITS : (T)(__builtin_clzl((ulong)(U)x) - (64 - BITS)); }     \
  __KM_F T ctz(T x) { return x == 0 ? BITS : (T)__builtin_ctzl((ulong)(U)x); }                     \
  __KM_BINARY(T, min, T, T) __KM_BINARY(T, max, T, T) __KM_TERNARY(T, clamp, T, T, T)              \
  __KM_VECTORS(__KM_WITH_SCALAR, T)                                                                \
  __KM_BINARY(U, abs_diff, T, T) __KM_BINARY(T, hadd, T, T) __KM_BINARY(T, rhadd, T, T)            \
  __KM_BINARY(T, rotate, T, T) __KM_UNARY(T, popcount, T) __KM_UNARY(T, clz, T)                    \
  __KM_UNARY(T, ctz, T)
#define __KM_WITH_SCALAR(N, T)                                                                     \
  __KM_F T##N min(T##N x, T y) { return min(x, (T##N)(y)); }                                       \
  __KM_F T##N max(T##N x, T y) { return max(x, (T##N)(y)); }                                       \
  __KM_F T##N clamp(T##N x, T low, T high) { return clamp(x, (T##N)(low), (T##N)(high)); }
__KM_SIGNED(__KM_COMMON) __KM_UNSIGNED(__KM_COMMON)
#undef __KM_COMMON

#define __KM_OF_SIGNED(T, U, BITS, MIN, MAX)                                                       \
  __KM_F U abs(T x) { return x < 0 ? (U)(0 - (U)x) : (U)x; }                                       \
  __KM_F T add_sat(T x, T y) {                                                                     \
    T sum = (T)((U)x + (U)y);                                                                      \
    return ((x ^ sum) & (y ^ sum)) < 0 ? (x < 0 ? MIN : MAX) : sum;                                \
  }                                                                                                \
  __KM_F T sub_sat(T x, T y) {                                                                     \
    T rest = (T)((U)x - (U)y);                                                                     \
    return ((x ^ y) & (x ^ rest)) < 0 ? (x < 0 ? MIN : MAX) : rest;                                \
  }
#define __KM_OF_UNSIGNED(T, U, BITS, MIN, MAX)                                                     \
  __KM_F T abs(T x) { return x; }                                                                  \
  __KM_F T add_sat(T x, T y) { return (T)(x + y) < x ? MAX : (T)(x + y); }                         \
  __KM_F T sub_sat(T x, T y) { return x < y ? 0 : (T)(x - y); }
__KM_SIGNED(__KM_OF_SIGNED) __KM_UNSIGNED(__KM_OF_UNSIGNED)
#undef __KM_OF_SIGNED
#undef __KM_OF_UNSIGNED

// The upper half of a product.
#define __KM_MUL_HI(T, WIDE, BITS)                                                                 \
  __KM_F T mul_hi(T x, T y) { return (T)((WIDE)x * (WIDE)y >> BITS); }
__KM_MUL_HI(char, int, 8) __KM_MUL_HI(uchar, uint, 8) __KM_MUL_HI(short, int, 16)
__KM_MUL_HI(ushort, uint, 16) __KM_MUL_HI(int, long, 32) __KM_MUL_HI(uint, ulong, 32)
#undef __KM_MUL_HI
__KM_F ulong mul_hi(ulong x, ulong y) {
  ulong low = (x & 0xffffffff) * (y & 0xffffffff);
  ulong first = (x >> 32) * (y & 0xffffffff) + (low >> 32);
  ulong second = (x & 0xffffffff) * (y >> 32) + (first & 0xffffffff);
  return (x >> 32) * (y >> 32) + (first >> 32) + (second >> 32);
}
__KM_F long mul_hi(long x, long y) {
  return (long)(mul_hi((ulong)x, (ulong)y) - (x < 0 ? (ulong)y : 0) - (y < 0 ? (ulong)x : 0));
}
// A product and a sum, held at the ends of the range: in 64 bits that holds for all but `long`.
#define __KM_MAD_SAT(T, WIDE, MIN, MAX)                                                            \
  __KM_F T mad_sat(T x, T y, T z) {                                                                \
    WIDE sum = (WIDE)x * (WIDE)y + (WIDE)z;                                                        \
    return sum > (WIDE)MAX ? MAX : sum < (WIDE)MIN ? MIN : (T)sum;                                 \
  }
__KM_MAD_SAT(char, int, CHAR_MIN, CHAR_MAX) __KM_MAD_SAT(uchar, uint, 0, UCHAR_MAX)
__KM_MAD_SAT(short, long, SHRT_MIN, SHRT_MAX) __KM_MAD_SAT(ushort, ulong, 0, USHRT_MAX)
__KM_MAD_SAT(int, long, INT_MIN, INT_MAX) __KM_MAD_SAT(uint, ulong, 0, UINT_MAX)
#undef __KM_MAD_SAT
__KM_F ulong mad_sat(ulong x, ulong y, ulong z) {
  return mul_hi(x, y) != 0 ? ULONG_MAX : add_sat(x * y, z);
}
__KM_F long mad_sat(long x, long y, long z) {
  long high = mul_hi(x, y);
  ulong low = (ulong)x * (ulong)y, sum = low + (ulong)z;
  high += (z < 0 ? -1 : 0) + (sum < low ? 1 : 0);
  return high == ((long)sum < 0 ? -1 : 0) ? (long)sum : high < 0 ? LONG_MIN : LONG_MAX;
}
#define __KM_VECTORS_OF(T, U, BITS, MIN, MAX)                                                      \
  __KM_F T mad_hi(T x, T y, T z) { return (T)(mul_hi(x, y) + z); }                                 \
  __KM_UNARY(U, abs, T) __KM_BINARY(T, add_sat, T, T) __KM_BINARY(T, sub_sat, T, T)                \
  __KM_BINARY(T, mul_hi, T, T) __KM_TERNARY(T, mad_hi, T, T, T) __KM_TERNARY(T, mad_sat, T, T, T)
__KM_SIGNED(__KM_VECTORS_OF) __KM_UNSIGNED(__KM_VECTORS_OF)
#undef __KM_VECTORS_OF

#define __KM_24(N, T)                                                                              \
  __KM_F T##N mul24(T##N x, T##N y) { return x * y; }                                              \
  __KM_F T##N mad24(T##N x, T##N y, T##N z) { return x * y + z; }
__KM_WIDTHS(__KM_24, int) __KM_WIDTHS(__KM_24, uint)
#undef __KM_24
#define __KM_UPSAMPLE(R, A, B, BITS)                                                               \
  __KM_F R upsample(A high, B low) { return (R)((R)high << BITS | (R)low); }                       \
  __KM_BINARY(R, upsample, A, B)
__KM_UPSAMPLE(short, char, uchar, 8) __KM_UPSAMPLE(ushort, uchar, uchar, 8)
__KM_UPSAMPLE(int, short, ushort, 16) __KM_UPSAMPLE(uint, ushort, ushort, 16)
__KM_UPSAMPLE(long, int, uint, 32) __KM_UPSAMPLE(ulong, uint, uint, 32)
#undef __KM_UPSAMPLE
