// Functions of vectors from functions of their components, for vectors of 2, 3, 4, 8 and 16.
#pragma once

#define __KM_F static inline __attribute__((always_inline, overloadable))

#define __KM_UNARY(R, F, A)                                                                        \
  __KM_F R##2 F(A##2 x) { return (R##2)(F(x.s0), F(x.s1)); }                                       \
  __KM_F R##3 F(A##3 x) { return (R##3)(F(x.s0), F(x.s1), F(x.s2)); }                              \
  __KM_F R##4 F(A##4 x) { return (R##4)(F(x.lo), F(x.hi)); }                                       \
  __KM_F R##8 F(A##8 x) { return (R##8)(F(x.lo), F(x.hi)); }                                       \
  __KM_F R##16 F(A##16 x) { return (R##16)(F(x.lo), F(x.hi)); }
#define __KM_BINARY(R, F, A, B)                                                                    \
  __KM_F R##2 F(A##2 x, B##2 y) { return (R##2)(F(x.s0, y.s0), F(x.s1, y.s1)); }                   \
  __KM_F R##3 F(A##3 x, B##3 y) {                                                                  \
    return (R##3)(F(x.s0, y.s0), F(x.s1, y.s1), F(x.s2, y.s2));                                    \
  }                                                                                                \
  __KM_F R##4 F(A##4 x, B##4 y) { return (R##4)(F(x.lo, y.lo), F(x.hi, y.hi)); }                   \
  __KM_F R##8 F(A##8 x, B##8 y) { return (R##8)(F(x.lo, y.lo), F(x.hi, y.hi)); }                   \
  __KM_F R##16 F(A##16 x, B##16 y) { return (R##16)(F(x.lo, y.lo), F(x.hi, y.hi)); }
#define __KM_TERNARY(R, F, A, B, C)                                                                \
  __KM_F R##2 F(A##2 x, B##2 y, C##2 z) {                                                          \
    return (R##2)(F(x.s0, y.s0, z.s0), F(x.s1, y.s1, z.s1));                                       \
  }                                                                                                \
  __KM_F R##3 F(A##3 x, B##3 y, C##3 z) {                                                          \
    return (R##3)(F(x.s0, y.s0, z.s0), F(x.s1, y.s1, z.s1), F(x.s2, y.s2, z.s2));                  \
  }                                                                                                \
  __KM_F R##4 F(A##4 x, B##4 y, C##4 z) {                                                          \
    return (R##4)(F(x.lo, y.lo, z.lo), F(x.hi, y.hi, z.hi));                                       \
  }                                                                                                \
  __KM_F R##8 F(A##8 x, B##8 y, C##8 z) {                                                          \
    return (R##8)(F(x.lo, y.lo, z.lo), F(x.hi, y.hi, z.hi));                                       \
  }                                                                                                \
  __KM_F R##16 F(A##16 x, B##16 y, C##16 z) {                                                      \
    return (R##16)(F(x.lo, y.lo, z.lo), F(x.hi, y.hi, z.hi));                                      \
  }
// `M` with further arguments for every number of components.
#define __KM_VECTORS(M, ...)                                                                       \
  M(2, __VA_ARGS__) M(3, __VA_ARGS__) M(4, __VA_ARGS__) M(8, __VA_ARGS__) M(16, __VA_ARGS__)
#define __KM_WIDTHS(M, ...) M(, __VA_ARGS__) __KM_VECTORS(M, __VA_ARGS__)
// `M` for every integer type: the type, its unsigned type, its bits, its least and largest value.
#define __KM_SIGNED(M)                                                                             \
  M(char, uchar, 8, CHAR_MIN, CHAR_MAX) M(short, ushort, 16, SHRT_MIN, SHRT_MAX)                   \
  M(int, uint, 32, INT_MIN, INT_MAX) M(long, ulong, 64, LONG_MIN, LONG_MAX)
#define __KM_UNSIGNED(M)                                                                           \
  M(uchar, uchar, 8, 0, UCHAR_MAX) M(ushort, ushort, 16, 0, USHRT_MAX)                             \
  M(uint, uint, 32, 0, UINT_MAX) M(ulong, ulong, 64, 0, ULONG_MAX)
// `M` for every kind of memory that a pointer names and that can be written.
#ifdef __opencl_c_generic_address_space
#define __KM_GENERIC(M, ...) M(__generic, __VA_ARGS__)
#else
#define __KM_GENERIC(M, ...)
#endif
#define __KM_MEMORY(M, ...)                                                                        \
  M(__global, __VA_ARGS__) M(__local, __VA_ARGS__) M(__private, __VA_ARGS__)                       \
  __KM_GENERIC(M, __VA_ARGS__)
