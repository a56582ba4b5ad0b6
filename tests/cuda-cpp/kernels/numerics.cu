// Functions of real numbers, one row of results for each number.
#include <cmath>

extern "C" __global__ void singles(const float *x, float *out, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  float v = x[t], *o = out + 24 * t;
  o[0] = sinf(v), o[1] = cosf(v), o[2] = tanf(v), o[3] = expf(v), o[4] = exp2f(v);
  o[5] = logf(fabsf(v)), o[6] = log2f(fabsf(v)), o[7] = sqrtf(fabsf(v)), o[8] = tanhf(v);
  o[9] = atanf(v), o[10] = powf(fabsf(v), 1.7f), o[11] = atan2f(v, 2.0f), o[12] = cbrtf(v);
  o[13] = std::floor(v), o[14] = rintf(v), o[15] = roundf(v), o[16] = truncf(v);
  o[17] = fmodf(v, 0.75f), o[18] = asinhf(v), o[19] = log1pf(fabsf(v)), o[20] = expm1f(v);
  o[21] = rsqrtf(fabsf(v)), o[22] = (float)__float2int_rn(v), o[23] = ldexpf(v, -3);
}

// Fewer, in double precision.
extern "C" __global__ void doubles(const double *x, double *out, int n) {
  int t = threadIdx.x;
  if (t >= n) return;
  double v = x[t], *o = out + 8 * t;
  o[0] = erf(v), o[1] = erfc(v), o[2] = tgamma(v), o[3] = lgamma(v);
  o[4] = normcdf(v), o[5] = erfinv(v / 8), o[6] = cospi(v), o[7] = remainder(v, 0.7);
}

// What must not be fused, and what may.
extern "C" __global__ void rounding(const float *x, float *out) {
  out[0] = __fadd_rn(__fmul_rn(x[0], x[1]), x[2]);
  out[1] = fmaf(x[0], x[1], x[2]);
}

// Quotients of any size: remainders are exact.
extern "C" __global__ void remainders(const float *x, const float *y, float *out, double *wide, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  out[t] = fmodf(x[t], y[t]);
  wide[t] = fmod((double)x[t] * 1e9, (double)y[t]);
}

// Integers of what is no number.
extern "C" __global__ void integers(const float *x, unsigned *o) {
  float f = x[0];
  double d = x[0];
  o[0] = __float2int_rz(f), o[1] = __float2uint_rn(f);
  o[2] = __double2int_rz(d), o[3] = __double2uint_rd(d);
  unsigned long long wide[4] = {(unsigned long long)__float2ll_rz(f), __float2ull_ru(f),
                                (unsigned long long)__double2ll_rn(d), __double2ull_rz(d)};
  for (int k = 0; k < 4; k++) o[4 + 2 * k] = (unsigned)wide[k], o[5 + 2 * k] = (unsigned)(wide[k] >> 32);
}
