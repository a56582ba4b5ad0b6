// Arithmetic that is not rounded to the nearest, and functions that few programs use.
#include <cuComplex.h>

#define ROUNDED(T, ADD, SUB, MUL, FMA, DIV, SQRT)                                                  \
  *out++ = ADD(a, b), *out++ = SUB(a, b), *out++ = MUL(a, b), *out++ = FMA(a, b, c);               \
  *out++ = DIV(a, b), *out++ = SQRT(a)
extern "C" __global__ void rounded_floats(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2];
  out += 18 * i;
  ROUNDED(float, __fadd_rd, __fsub_rd, __fmul_rd, __fmaf_rd, __fdiv_rd, __fsqrt_rd);
  ROUNDED(float, __fadd_ru, __fsub_ru, __fmul_ru, __fmaf_ru, __fdiv_ru, __fsqrt_ru);
  ROUNDED(float, __fadd_rz, __fsub_rz, __fmul_rz, __fmaf_rz, __fdiv_rz, __fsqrt_rz);
}
extern "C" __global__ void rounded_doubles(const double *x, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2];
  out += 18 * i;
  ROUNDED(double, __dadd_rd, __dsub_rd, __dmul_rd, __fma_rd, __ddiv_rd, __dsqrt_rd);
  ROUNDED(double, __dadd_ru, __dsub_ru, __dmul_ru, __fma_ru, __ddiv_ru, __dsqrt_ru);
  ROUNDED(double, __dadd_rz, __dsub_rz, __dmul_rz, __fma_rz, __ddiv_rz, __dsqrt_rz);
}
extern "C" __global__ void narrowed(const double *x, const long long *whole, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out += 6 * i;
  *out++ = __double2float_rd(x[i]), *out++ = __double2float_ru(x[i]), *out++ = __double2float_rz(x[i]);
  *out++ = __ll2float_rd(whole[i]), *out++ = __ll2float_ru(whole[i]), *out++ = __ll2float_rz(whole[i]);
}

extern "C" __global__ void lengths(const float *x, float *out) {
  int i = threadIdx.x;
  float a = x[4 * i], b = x[4 * i + 1], c = x[4 * i + 2], d = x[4 * i + 3];
  out += 7 * i;
  *out++ = norm3df(a, b, c), *out++ = norm4df(a, b, c, d), *out++ = normf(4, x + 4 * i);
  *out++ = rnorm3df(a, b, c), *out++ = (float)norm3d(a, b, c), *out++ = (float)norm4d(a, b, c, d);
  *out++ = (float)(norm3d(1e300, 2e300, 2e300) / 1e300);
}
extern "C" __global__ void quotients(const float *x, const float *y, float *rest, int *bits) {
  int i = threadIdx.x;
  rest[i] = remquof(x[i], y[i], &bits[i]);
}
extern "C" __global__ void complexes(const cuFloatComplex *z, const cuFloatComplex *w, cuFloatComplex *out) {
  int i = threadIdx.x;
  out[4 * i] = cuCmulf(z[i], w[i]);
  out[4 * i + 1] = cuCdivf(z[i], w[i]);
  out[4 * i + 2] = make_cuFloatComplex(cuCabsf(z[i]), cuCimagf(cuConjf(z[i])));
  out[4 * i + 3] = cuComplexDoubleToFloat(
      cuCfma(cuComplexFloatToDouble(z[i]), cuComplexFloatToDouble(w[i]), make_cuDoubleComplex(1, 2)));
}
// The lower half of a product that has more than 32 bits, which may be negative.
extern "C" __global__ void squares(const int *x, int *out) {
  int i = threadIdx.x, square = __mul24(x[i], x[i]);
  out[2 * i] = square;
  out[2 * i + 1] = square < 0;
}
