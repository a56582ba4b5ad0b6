// Complex numbers: pairs of a real and an imaginary part.
#pragma once

#define __KM_COMPLEX(V, T, F, MAKE, ROOT)                                                          \
  __KM_HD T hipCreal##F(V z) { return z.x; }                                                       \
  __KM_HD T hipCimag##F(V z) { return z.y; }                                                       \
  __KM_HD V hipConj##F(V z) { return make_##V(z.x, -z.y); }                                        \
  __KM_HD T hipCsqabs##F(V z) { return z.x * z.x + z.y * z.y; }                                    \
  __KM_HD T hipCabs##F(V z) { return ROOT(hipCsqabs##F(z)); }                                      \
  __KM_HD V hipCadd##F(V p, V q) { return make_##V(p.x + q.x, p.y + q.y); }                        \
  __KM_HD V hipCsub##F(V p, V q) { return make_##V(p.x - q.x, p.y - q.y); }                        \
  __KM_HD V hipCmul##F(V p, V q) {                                                                 \
    return make_##V(p.x * q.x - p.y * q.y, p.y * q.x + p.x * q.y);                                 \
  }                                                                                                \
  __KM_HD V hipCdiv##F(V p, V q) {                                                                 \
    T size = hipCsqabs##F(q);                                                                      \
    return make_##V((p.x * q.x + p.y * q.y) / size, (p.y * q.x - p.x * q.y) / size);               \
  }                                                                                                \
  __KM_HD V hipCfma##F(V p, V q, V r) { return hipCadd##F(hipCmul##F(p, q), r); }                  \
  __KM_HD V MAKE(T real, T imaginary) { return make_##V(real, imaginary); }
__KM_COMPLEX(float2, float, f, make_hipFloatComplex, __builtin_sqrtf)
__KM_COMPLEX(double2, double, , make_hipDoubleComplex, __builtin_sqrt)
#undef __KM_COMPLEX
typedef float2 hipFloatComplex;
typedef float2 hipComplex;
typedef double2 hipDoubleComplex;
__KM_HD hipComplex make_hipComplex(float real, float imaginary) { return make_float2(real, imaginary); }
__KM_HD hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex z) {
  return make_float2((float)z.x, (float)z.y);
}
__KM_HD hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex z) { return make_double2(z.x, z.y); }
