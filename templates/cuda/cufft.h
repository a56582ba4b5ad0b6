// cuFFT, which code for the host calls. It is parsed, and nothing is generated from it.
#pragma once
#define _CUFFT_H_

#include "cuComplex.h"
#include "kernelmill/library.h"
#include "library_types.h"

extern "C++" {
typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
typedef enum {
  CUFFT_SUCCESS, CUFFT_INVALID_PLAN, CUFFT_ALLOC_FAILED, CUFFT_INVALID_TYPE, CUFFT_INVALID_VALUE, CUFFT_INTERNAL_ERROR,
  CUFFT_EXEC_FAILED, CUFFT_SETUP_FAILED, CUFFT_INVALID_SIZE, CUFFT_UNALIGNED_DATA, CUFFT_INCOMPLETE_PARAMETER_LIST,
  CUFFT_INVALID_DEVICE, CUFFT_PARSE_ERROR, CUFFT_NO_WORKSPACE, CUFFT_NOT_IMPLEMENTED, CUFFT_LICENSE_ERROR, CUFFT_NOT_SUPPORTED
} cufftResult;
typedef cufftResult cufftResult_t;
typedef enum {
  CUFFT_R2C = 0x2a, CUFFT_C2R = 0x2c, CUFFT_C2C = 0x29, CUFFT_D2Z = 0x6a, CUFFT_Z2D = 0x6c, CUFFT_Z2Z = 0x69
} cufftType;
typedef enum {
  CUFFT_COMPATIBILITY_FFTW_PADDING = 1
} cufftCompatibility;
#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1

__KM_LIBRARY(cufftResult, cufftCreate)
__KM_LIBRARY(cufftResult, cufftDestroy)
__KM_LIBRARY(cufftResult, cufftPlan1d)
__KM_LIBRARY(cufftResult, cufftPlan2d)
__KM_LIBRARY(cufftResult, cufftPlan3d)
__KM_LIBRARY(cufftResult, cufftPlanMany)
__KM_LIBRARY(cufftResult, cufftMakePlan1d)
__KM_LIBRARY(cufftResult, cufftMakePlan2d)
__KM_LIBRARY(cufftResult, cufftMakePlan3d)
__KM_LIBRARY(cufftResult, cufftMakePlanMany)
__KM_LIBRARY(cufftResult, cufftMakePlanMany64)
__KM_LIBRARY(cufftResult, cufftEstimate1d)
__KM_LIBRARY(cufftResult, cufftEstimate2d)
__KM_LIBRARY(cufftResult, cufftEstimate3d)
__KM_LIBRARY(cufftResult, cufftEstimateMany)
__KM_LIBRARY(cufftResult, cufftGetSize1d)
__KM_LIBRARY(cufftResult, cufftGetSize2d)
__KM_LIBRARY(cufftResult, cufftGetSize3d)
__KM_LIBRARY(cufftResult, cufftGetSizeMany)
__KM_LIBRARY(cufftResult, cufftGetSizeMany64)
__KM_LIBRARY(cufftResult, cufftGetSize)
__KM_LIBRARY(cufftResult, cufftSetWorkArea)
__KM_LIBRARY(cufftResult, cufftSetAutoAllocation)
__KM_LIBRARY(cufftResult, cufftExecC2C)
__KM_LIBRARY(cufftResult, cufftExecR2C)
__KM_LIBRARY(cufftResult, cufftExecC2R)
__KM_LIBRARY(cufftResult, cufftExecZ2Z)
__KM_LIBRARY(cufftResult, cufftExecD2Z)
__KM_LIBRARY(cufftResult, cufftExecZ2D)
__KM_LIBRARY(cufftResult, cufftSetStream)
__KM_LIBRARY(cufftResult, cufftGetVersion)
__KM_LIBRARY(cufftResult, cufftGetProperty)
}
