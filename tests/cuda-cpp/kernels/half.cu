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
