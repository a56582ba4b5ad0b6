// Common functions, and geometric ones.
#pragma once

#define __KM_COMMON(T)                                                                             \
  __KM_F T min(T x, T y) { return y < x ? y : x; }                                                 \
  __KM_F T max(T x, T y) { return x < y ? y : x; }                                                 \
  __KM_F T clamp(T x, T low, T high) { return fmin(fmax(x, low), high); }                          \
  __KM_F T degrees(T x) { return x * (T)57.295779513082320877; }                                   \
  __KM_F T radians(T x) { return x * (T)0.017453292519943295769; }                                 \
  __KM_F T mix(T x, T y, T share) { return x + (y - x) * share; }                                  \
  __KM_F T step(T edge, T x) { return x < edge ? 0 : 1; }                                          \
  __KM_F T smoothstep(T low, T high, T x) {                                                        \
    T t = clamp((x - low) / (high - low), (T)0, (T)1);                                             \
    return t * t * (3 - 2 * t);                                                                    \
  }                                                                                                \
  __KM_F T sign(T x) { return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? x : 0; }                           \
  __KM_BINARY(T, min, T, T) __KM_BINARY(T, max, T, T) __KM_TERNARY(T, clamp, T, T, T)              \
  __KM_UNARY(T, degrees, T) __KM_UNARY(T, radians, T) __KM_TERNARY(T, mix, T, T, T)                \
  __KM_BINARY(T, step, T, T) __KM_TERNARY(T, smoothstep, T, T, T) __KM_UNARY(T, sign, T)           \
  __KM_VECTORS(__KM_WITH_SCALAR, T) __KM_VECTORS(__KM_REAL_WITH_SCALAR, T)
#define __KM_REAL_WITH_SCALAR(N, T)                                                                \
  __KM_F T##N mix(T##N x, T##N y, T share) { return mix(x, y, (T##N)(share)); }                    \
  __KM_F T##N step(T edge, T##N x) { return step((T##N)(edge), x); }                               \
  __KM_F T##N smoothstep(T low, T high, T##N x) { return smoothstep((T##N)(low), (T##N)(high), x); }
__KM_COMMON(float) __KM_COMMON(double)
#undef __KM_COMMON
#undef __KM_REAL_WITH_SCALAR
#undef __KM_WITH_SCALAR

#define __KM_GEOMETRIC(T)                                                                          \
  __KM_F T dot(T x, T y) { return x * y; }                                                         \
  __KM_F T dot(T##2 x, T##2 y) { return x.s0 * y.s0 + x.s1 * y.s1; }                               \
  __KM_F T dot(T##3 x, T##3 y) { return x.s0 * y.s0 + x.s1 * y.s1 + x.s2 * y.s2; }                 \
  __KM_F T dot(T##4 x, T##4 y) {                                                                   \
    return x.s0 * y.s0 + x.s1 * y.s1 + x.s2 * y.s2 + x.s3 * y.s3;                                  \
  }                                                                                                \
  __KM_F T##3 cross(T##3 x, T##3 y) { return x.yzx * y.zxy - x.zxy * y.yzx; }                      \
  __KM_F T##4 cross(T##4 x, T##4 y) { return (T##4)(cross(x.xyz, y.xyz), 0); }                     \
  __KM_LENGTH(, T) __KM_LENGTH(2, T) __KM_LENGTH(3, T) __KM_LENGTH(4, T)
#define __KM_LENGTH(N, T)                                                                          \
  __KM_F T length(T##N x) { return sqrt(dot(x, x)); }                                              \
  __KM_F T distance(T##N x, T##N y) { return length(x - y); }                                      \
  __KM_F T##N normalize(T##N x) {                                                                  \
    T size = length(x);                                                                            \
    return size == 0 ? x : x / size;                                                               \
  }                                                                                                \
  __KM_F T fast_length(T##N x) { return length(x); }                                               \
  __KM_F T fast_distance(T##N x, T##N y) { return distance(x, y); }                                \
  __KM_F T##N fast_normalize(T##N x) { return normalize(x); }
__KM_GEOMETRIC(float) __KM_GEOMETRIC(double)
#undef __KM_GEOMETRIC
#undef __KM_LENGTH
