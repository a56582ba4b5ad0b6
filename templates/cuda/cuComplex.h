// Complex numbers of the CUDA toolkit: pairs of a real and an imaginary part. Quotients and sizes are scaled, so that
// they overflow only where the result does.
#pragma once
#define CU_COMPLEX_H_

#define __KM_COMPLEX(V, T, F, MAKE)                                                                \
  __KM_HD T cuCreal##F(V z) { return z.x; }                                                        \
  __KM_HD T cuCimag##F(V z) { return z.y; }                                                        \
  __KM_HD V MAKE(T real, T imaginary) { return make_##V(real, imaginary); }                        \
  __KM_HD V cuConj##F(V z) { return make_##V(z.x, -z.y); }                                         \
  __KM_HD V cuCadd##F(V p, V q) { return make_##V(p.x + q.x, p.y + q.y); }                         \
  __KM_HD V cuCsub##F(V p, V q) { return make_##V(p.x - q.x, p.y - q.y); }                         \
  __KM_HD V cuCmul##F(V p, V q) {                                                                  \
    return make_##V(p.x * q.x - p.y * q.y, p.x * q.y + p.y * q.x);                                 \
  }                                                                                                \
  __KM_HD V cuCdiv##F(V p, V q) {                                                                  \
    T scale = 1 / (__builtin_fabs##F(q.x) + __builtin_fabs##F(q.y));                               \
    T a = p.x * scale, b = p.y * scale, c = q.x * scale, d = q.y * scale;                          \
    T size = 1 / (c * c + d * d);                                                                  \
    return make_##V((a * c + b * d) * size, (b * c - a * d) * size);                               \
  }                                                                                                \
  __KM_HD T cuCabs##F(V z) { return __builtin_hypot##F(z.x, z.y); }                                \
  __KM_HD V cuCfma##F(V p, V q, V r) {                                                             \
    return make_##V(p.x * q.x + r.x - p.y * q.y, p.x * q.y + r.y + p.y * q.x);                     \
  }
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
__KM_COMPLEX(float2, float, f, make_cuFloatComplex)
__KM_COMPLEX(double2, double, , make_cuDoubleComplex)
#undef __KM_COMPLEX
__KM_HD cuComplex make_cuComplex(float real, float imaginary) { return make_float2(real, imaginary); }
__KM_HD cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return make_float2((float)z.x, (float)z.y);
}
__KM_HD cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return make_double2(z.x, z.y); }
