// Built-in functions of real numbers and of integers.

kernel void elementary(global const float *in, global float *out) {
  size_t i = get_global_id(0);
  float x = in[i];
  global float *own = out + 20 * i;
  own[0] = sin(x);
  own[1] = native_cos(x);
  own[2] = half_exp(x);
  own[3] = log(fabs(x) + 1.0f);
  own[4] = pow(fabs(x), 1.5f);
  own[5] = native_rsqrt(fabs(x) + 1.0f);
  own[6] = tanh(x);
  own[7] = atan2(x, 2.0f);
  own[8] = hypot(x, 3.0f);
  own[9] = exp10(x * 0.25f);
  own[10] = native_divide(x, 3.0f);
  own[11] = cbrt(x);
  own[12] = erf(x);
  own[13] = pown(x, 3);
  own[14] = sinpi(x);
  own[15] = fmod(x, 0.7f);
  own[16] = log2(fabs(x) + 1.0f);
  own[17] = rootn(fabs(x), 3);
  own[18] = tgamma(fabs(x) + 1.0f);
  own[19] = expm1(x);
}

kernel void common(global const float *in, global float *out, global int *whole) {
  size_t i = get_global_id(0);
  float x = in[i];
  global float *own = out + 16 * i;
  own[0] = clamp(x, -1.0f, 1.0f);
  own[1] = mix(x, 10.0f, 0.25f);
  own[2] = step(0.5f, x);
  own[3] = smoothstep(-1.0f, 2.0f, x);
  own[4] = sign(x);
  own[5] = degrees(x);
  own[6] = fract(x, &own[7]);
  own[8] = modf(x, own + 9);
  int n;
  own[10] = frexp(x, &n);
  whole[2 * i] = n;
  own[11] = ldexp(x, 3);
  own[12] = fdim(x, 0.5f);
  own[13] = copysign(2.0f, x);
  own[14] = maxmag(x, 1.25f);
  own[15] = rint(x);
  whole[2 * i + 1] = isnan(x) + 2 * signbit(x) + 4 * isless(x, 0.5f) + 8 * ilogb(x);
}

kernel void geometry(global const float3 *a, global const float3 *b, global float *out) {
  size_t i = get_global_id(0);
  float3 x = a[i], y = b[i], z = cross(x, y);
  vstore4((float4)(dot(x, y), length(x), distance(x, y), fast_length(y)), 2 * i, out);
  vstore4((float4)(z, normalize(x).y), 2 * i + 1, out);
}

kernel void integers(global const int *a, global const int *b, global int *out) {
  size_t i = get_global_id(0);
  int x = a[i], y = b[i];
  global int *own = out + 20 * i;
  own[0] = mul24(x & 0xffff, y & 0x7f);
  own[1] = mad24(x & 0xff, y & 0xff, 7);
  own[2] = mul_hi(x, y);
  own[3] = mad_hi(x, y, 5);
  own[4] = rotate(x, 5);
  own[5] = popcount(x);
  own[6] = clz(x);
  own[7] = hadd(x, y);
  own[8] = rhadd(x, y);
  own[9] = add_sat(x, y);
  own[10] = sub_sat(x, y);
  own[11] = mad_sat(x, y, x);
  own[12] = (int)abs(x);
  own[13] = (int)abs_diff(x, y);
  own[14] = min(x, y);
  own[15] = clamp(x, -100, 100);
  own[16] = bitselect(x, y, 0x0f0f0f0f);
  own[17] = select(x, y, x > y);
  own[18] = (int)upsample((short)x, (ushort)y);
  own[19] = (int)mul_hi((uint)x, (uint)y);
}

kernel void doubles(global const double *in, global double4 *out) {
  size_t i = get_global_id(0);
  double x = in[i];
  out[i] = (double4)(sqrt(fabs(x)), fma(x, x, 1.0), exp(-x * x), lgamma(fabs(x) + 0.5));
}
