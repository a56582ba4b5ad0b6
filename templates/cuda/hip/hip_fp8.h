// Numbers of 8 bits, as in CUDA C++. Those without a negative zero (FNUZ) are not among them.
#pragma once
#include "../cuda_fp8.h"
typedef __nv_fp8_storage_t __hip_fp8_storage_t;
typedef __nv_fp8x2_storage_t __hip_fp8x2_storage_t;
typedef __nv_fp8x4_storage_t __hip_fp8x4_storage_t;
typedef __nv_fp8_e4m3 __hip_fp8_e4m3;
typedef __nv_fp8_e5m2 __hip_fp8_e5m2;
typedef __nv_saturation_t __hip_saturation_t;
typedef __nv_fp8_interpretation_t __hip_fp8_interpretation_t;
#define __HIP_NOSAT __NV_NOSAT
#define __HIP_SATFINITE __NV_SATFINITE
#define __HIP_E4M3 __NV_E4M3
#define __HIP_E5M2 __NV_E5M2
#define __hip_cvt_float_to_fp8 __nv_cvt_float_to_fp8
