// Half precision and its kin.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// Every number of 16 bits as a float, and back.
template <typename T, T (*Read)(unsigned short), unsigned short (*Bits)(T)>
__device__ void through(float *out, unsigned int *back) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = (float)Read((unsigned short)i);
  out[i] = value;
  back[i] = Bits(T(value));
}
extern "C" __global__ void halves(float *out, unsigned int *back) {
  through<__half, __ushort_as_half, __half_as_ushort>(out, back);
}
extern "C" __global__ void brains(float *out, unsigned int *back) {
  through<__nv_bfloat16, __ushort_as_bfloat16, __bfloat16_as_ushort>(out, back);
}

extern "C" __global__ void narrow(const float *x, unsigned int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[4 * i] = __half_as_ushort(__float2half(x[i]));
  out[4 * i + 1] = __bfloat16_as_ushort(__float2bfloat16(x[i]));
  out[4 * i + 2] = __nv_cvt_float_to_fp8(x[i], __NV_SATFINITE, __NV_E4M3);
  out[4 * i + 3] = __nv_cvt_float_to_fp8(x[i], __NV_SATFINITE, __NV_E5M2);
}

// Sum, difference, product, quotient and a fused operation, by operators, in pairs.
extern "C" __global__ void arithmetic(const __half2 *x, const __half2 *y, unsigned int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half2 a = x[i], b = y[i];
  __half2 results[5] = {a + b, a - b, a * b, a / b, __hfma2(a, b, a)};
  for (int k = 0; k < 5; k++) out[5 * i + k] = __builtin_bit_cast(unsigned int, results[k]);
}

// Half precision by value, and added to atomically.
extern "C" __global__ void accumulate(__half step, __half *sum, __nv_bfloat16 *other) {
  atomicAdd(sum, step);
  atomicAdd(other, __float2bfloat16(__half2float(step)));
}

// Every number of 16 bits in the other format, and as an integer: what is too great becomes the greatest, what is none 0.
template <typename T, typename Other, T (*Read)(unsigned short), unsigned short (*Bits)(Other)>
__device__ void converted(unsigned int *out) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  const T value = Read((unsigned short)i);
  out[6 * i] = Bits(static_cast<Other>(value));
  out[6 * i + 1] = (unsigned int)(int)static_cast<signed char>(value);
  out[6 * i + 2] = static_cast<unsigned char>(value);
  out[6 * i + 3] = (unsigned int)(int)static_cast<short>(value);
  out[6 * i + 4] = (unsigned int)static_cast<int>(value);
  out[6 * i + 5] = static_cast<unsigned int>(value);
}
extern "C" __global__ void converted_halves(unsigned int *out) {
  converted<__half, __nv_bfloat16, __ushort_as_half, __bfloat16_as_ushort>(out);
}
extern "C" __global__ void converted_brains(unsigned int *out) {
  converted<__nv_bfloat16, __half, __ushort_as_bfloat16, __half_as_ushort>(out);
}

// Two and four numbers of 8 bits at once: of floats, of doubles, of halves, and as floats again.
template <typename One, typename Two, typename Four>
__device__ void eights(float4 x, unsigned int *out, float4 *back) {
  One parts[4] = {One(x.x), One(x.y), One(x.z), One(x.w)};
  out[0] = parts[0].__x | parts[1].__x << 8 | parts[2].__x << 16 | (unsigned int)parts[3].__x << 24;
  Four four(x);
  out[1] = four.__x;
  out[2] = Four(double4{x.x, x.y, x.z, x.w}).__x;
  __half2 low = __floats2half2_rn(x.x, x.y), high = __floats2half2_rn(x.z, x.w);
  out[3] = Four(low, high).__x;
  out[4] = Two(low).__x | (unsigned int)Two(float2{x.z, x.w}).__x << 16;
  *back = (float4)four;
  float2 pair = (float2)Two(float2{x.x, x.y});
  __half2 halves = (__half2)Two(float2{x.z, x.w});
  if (pair.x != back->x || pair.y != back->y || __low2float(halves) != back->z ||
      __high2float(halves) != back->w || (float)parts[2] != back->z)
    out[4] = ~0u;
}
extern "C" __global__ void fours(const float4 *x, unsigned int *out, float4 *back) {
  unsigned int i = threadIdx.x;
  eights<__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3>(x[i], out + 10 * i, back + 2 * i);
  eights<__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2>(x[i], out + 10 * i + 5, back + 2 * i + 1);
}
extern "C" __global__ void double_to_eight(const double *x, unsigned int *out) {
  out[threadIdx.x] = __nv_fp8_e4m3(x[threadIdx.x]).__x;
}
