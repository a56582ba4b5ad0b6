// Relational functions: 1 for a true scalar, all bits for a true component.
#pragma once

#define __KM_RELATIONS(N, T, I)                                                                    \
  __KM_F I##N isequal(T##N x, T##N y) { return x == y; }                                           \
  __KM_F I##N isnotequal(T##N x, T##N y) { return x != y; }                                        \
  __KM_F I##N isgreater(T##N x, T##N y) { return x > y; }                                          \
  __KM_F I##N isgreaterequal(T##N x, T##N y) { return x >= y; }                                    \
  __KM_F I##N isless(T##N x, T##N y) { return x < y; }                                             \
  __KM_F I##N islessequal(T##N x, T##N y) { return x <= y; }                                       \
  __KM_F I##N islessgreater(T##N x, T##N y) { return (x < y) | (x > y); }                          \
  __KM_F I##N isordered(T##N x, T##N y) { return (x == x) & (y == y); }                            \
  __KM_F I##N isunordered(T##N x, T##N y) { return (x != x) | (y != y); }                          \
  __KM_F I##N isnan(T##N x) { return x != x; }                                                     \
  __KM_F I##N isinf(T##N x) { return fabs(x) == (T##N)((T)INFINITY); }                             \
  __KM_F I##N isfinite(T##N x) { return fabs(x) < (T##N)((T)INFINITY); }                           \
  __KM_F I##N isnormal(T##N x) {                                                                   \
    T least = sizeof(T) == 4 ? (T)FLT_MIN : (T)DBL_MIN;                                            \
    return (fabs(x) < (T##N)((T)INFINITY)) & (fabs(x) >= (T##N)(least));                           \
  }
__KM_RELATIONS(, float, int) __KM_RELATIONS(, double, int)
__KM_VECTORS(__KM_RELATIONS, float, int) __KM_VECTORS(__KM_RELATIONS, double, long)
#undef __KM_RELATIONS
__KM_F int signbit(float x) { return __builtin_astype(x, int) < 0; }
__KM_F int signbit(double x) { return __builtin_astype(x, long) < 0; }
#define __KM_SIGNBIT(N, T, I)                                                                      \
  __KM_F I##N signbit(T##N x) { return __builtin_astype(x, I##N) < (I##N)(0); }
__KM_VECTORS(__KM_SIGNBIT, float, int) __KM_VECTORS(__KM_SIGNBIT, double, long)
#undef __KM_SIGNBIT

// A scalar condition is any bit of it, one of vectors the upper bit of each component.
#define __KM_SELECT(N, T, I, U)                                                                    \
  __KM_F T##N select(T##N no, T##N yes, I##N choice) { return choice ? yes : no; }                 \
  __KM_F T##N select(T##N no, T##N yes, U##N choice) { return choice ? yes : no; }                 \
  __KM_F T##N bitselect(T##N no, T##N yes, T##N choice) {                                          \
    U##N a = __builtin_astype(no, U##N), b = __builtin_astype(yes, U##N);                          \
    U##N mixed = a ^ (__builtin_astype(choice, U##N) & (b ^ a));                                   \
    return __builtin_astype(mixed, T##N);                                                          \
  }
#define __KM_TERNARY_3(R, F, A, B, C)                                                              \
  __KM_F R##3 F(A##3 x, B##3 y, C##3 z) {                                                          \
    return (R##3)(F(x.s0, y.s0, z.s0), F(x.s1, y.s1, z.s1), F(x.s2, y.s2, z.s2));                  \
  }
#define __KM_SELECT_ALL(T, I, U)                                                                   \
  __KM_SELECT(, T, I, U) __KM_SELECT(2, T, I, U) __KM_SELECT(4, T, I, U) __KM_SELECT(8, T, I, U)   \
  __KM_SELECT(16, T, I, U)                                                                         \
  __KM_F T##3 select(T##3 no, T##3 yes, I##3 choice) { return choice ? yes : no; }                 \
  __KM_F T##3 select(T##3 no, T##3 yes, U##3 choice) { return choice ? yes : no; }                 \
  __KM_TERNARY_3(T, bitselect, T, T, T)
__KM_SELECT_ALL(char, char, uchar) __KM_SELECT_ALL(uchar, char, uchar)
__KM_SELECT_ALL(short, short, ushort) __KM_SELECT_ALL(ushort, short, ushort)
__KM_SELECT_ALL(int, int, uint) __KM_SELECT_ALL(uint, int, uint) __KM_SELECT_ALL(float, int, uint)
__KM_SELECT_ALL(long, long, ulong) __KM_SELECT_ALL(ulong, long, ulong)
__KM_SELECT_ALL(double, long, ulong)
#undef __KM_SELECT
#undef __KM_SELECT_ALL
#undef __KM_TERNARY_3

#define __KM_ANY(T)                                                                                \
  __KM_F int any(T x) { return x < 0; }                                                            \
  __KM_F int all(T x) { return x < 0; }                                                            \
  __KM_F int any(T##2 x) { return any((T)(x.s0 | x.s1)); }                                         \
  __KM_F int all(T##2 x) { return all((T)(x.s0 & x.s1)); }                                         \
  __KM_F int any(T##3 x) { return any((T)(x.s0 | x.s1 | x.s2)); }                                  \
  __KM_F int all(T##3 x) { return all((T)(x.s0 & x.s1 & x.s2)); }                                  \
  __KM_F int any(T##4 x) { return any(x.lo | x.hi); }                                              \
  __KM_F int all(T##4 x) { return all(x.lo & x.hi); }                                              \
  __KM_F int any(T##8 x) { return any(x.lo | x.hi); }                                              \
  __KM_F int all(T##8 x) { return all(x.lo & x.hi); }                                              \
  __KM_F int any(T##16 x) { return any(x.lo | x.hi); }                                             \
  __KM_F int all(T##16 x) { return all(x.lo & x.hi); }
__KM_ANY(char) __KM_ANY(short) __KM_ANY(int) __KM_ANY(long)
#undef __KM_ANY
