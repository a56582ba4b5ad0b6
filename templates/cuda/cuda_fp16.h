// Half precision. Its numbers are kept as their bits, and computed with as float: the sum, product,
// quotient and root of two, rounded from float, are those that half precision itself gives, and
// where the processor has the instruction the compiler finds it.
#pragma once
#ifndef __HIP__
#define __CUDA_FP16_H__
#endif

#define __KM_H __half
#define __KM_H2 __half2
#define __KM_H_RAW __half_raw
#define __KM_H2_RAW __half2_raw
#define __KM_WORD half
#define __KM_H_TO_F32 __kernelmill_f16_to_f32
#define __KM_F32_TO_H __kernelmill_f32_to_f16
#define __KM_F64_TO_H __kernelmill_f64_to_f16
#define __KM_FMA_H __kernelmill_fma_f16
#define __KM_H_INFINITY 0x7c00
#define __KM_OTHER_H __nv_bfloat16
#include "kernelmill/half_precision.h"
typedef __half half;
typedef __half2 half2;
