// The dense part of cuSOLVER, which code for the host calls. It is parsed, and nothing is generated from it.
#pragma once
#define CUSOLVERDN_H_
#define CUSOLVER_COMMON_H_

#include "cublas_v2.h"

extern "C++" {
typedef struct __km_cusolverDnHandle_t *cusolverDnHandle_t;
typedef struct __km_cusolverDnParams_t *cusolverDnParams_t;
typedef struct __km_gesvdjInfo_t *gesvdjInfo_t;
typedef struct __km_syevjInfo_t *syevjInfo_t;
typedef enum {
  CUSOLVER_STATUS_SUCCESS, CUSOLVER_STATUS_NOT_INITIALIZED, CUSOLVER_STATUS_ALLOC_FAILED, CUSOLVER_STATUS_INVALID_VALUE,
  CUSOLVER_STATUS_ARCH_MISMATCH, CUSOLVER_STATUS_MAPPING_ERROR, CUSOLVER_STATUS_EXECUTION_FAILED,
  CUSOLVER_STATUS_INTERNAL_ERROR, CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED, CUSOLVER_STATUS_NOT_SUPPORTED,
  CUSOLVER_STATUS_ZERO_PIVOT, CUSOLVER_STATUS_INVALID_LICENSE
} cusolverStatus_t;
typedef enum {
  CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR
} cusolverEigMode_t;
typedef enum {
  CUSOLVER_EIG_TYPE_1 = 1, CUSOLVER_EIG_TYPE_2, CUSOLVER_EIG_TYPE_3
} cusolverEigType_t;
typedef enum {
  CUSOLVER_EIG_RANGE_ALL = 1001, CUSOLVER_EIG_RANGE_I, CUSOLVER_EIG_RANGE_V
} cusolverEigRange_t;

__KM_LIBRARY(cusolverStatus_t, cusolverGetVersion)
__KM_LIBRARY(cusolverStatus_t, cusolverGetProperty)
__KM_LIBRARY(cusolverStatus_t, cusolverDnCreate)
__KM_LIBRARY(cusolverStatus_t, cusolverDnDestroy)
__KM_LIBRARY(cusolverStatus_t, cusolverDnSetStream)
__KM_LIBRARY(cusolverStatus_t, cusolverDnGetStream)
__KM_LIBRARY(cusolverStatus_t, cusolverDnCreateParams)
__KM_LIBRARY(cusolverStatus_t, cusolverDnDestroyParams)
__KM_LIBRARY(cusolverStatus_t, cusolverDnSetAdvOptions)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXpotrf)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXpotrf_bufferSize)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXpotrs)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXgetrf)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXgetrf_bufferSize)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXgetrs)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXgeqrf)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXgeqrf_bufferSize)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXsyevd)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXsyevd_bufferSize)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXgesvd)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXgesvd_bufferSize)
__KM_LIBRARY(cusolverStatus_t, cusolverDnCreateGesvdjInfo)
__KM_LIBRARY(cusolverStatus_t, cusolverDnDestroyGesvdjInfo)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXgesvdjSetTolerance)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXgesvdjSetMaxSweeps)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXgesvdjSetSortEig)
__KM_LIBRARY(cusolverStatus_t, cusolverDnCreateSyevjInfo)
__KM_LIBRARY(cusolverStatus_t, cusolverDnDestroySyevjInfo)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXsyevjSetTolerance)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXsyevjSetMaxSweeps)
__KM_LIBRARY(cusolverStatus_t, cusolverDnXsyevjSetSortEig)
__KM_LIBRARY(cusolverStatus_t, cusolverDnSsyevd)
__KM_LIBRARY(cusolverStatus_t, cusolverDnDsyevd)
__KM_LIBRARY(cusolverStatus_t, cusolverDnSsyevd_bufferSize)
__KM_LIBRARY(cusolverStatus_t, cusolverDnDsyevd_bufferSize)
__KM_LIBRARY(cusolverStatus_t, cusolverDnCheevd)
__KM_LIBRARY(cusolverStatus_t, cusolverDnZheevd)
__KM_LIBRARY(cusolverStatus_t, cusolverDnCheevd_bufferSize)
__KM_LIBRARY(cusolverStatus_t, cusolverDnZheevd_bufferSize)
__KM_LIBRARY(cusolverStatus_t, cusolverDnSsyevj)
__KM_LIBRARY(cusolverStatus_t, cusolverDnDsyevj)
__KM_LIBRARY(cusolverStatus_t, cusolverDnSsyevj_bufferSize)
__KM_LIBRARY(cusolverStatus_t, cusolverDnDsyevj_bufferSize)
__KM_LIBRARY(cusolverStatus_t, cusolverDnSorgqr)
__KM_LIBRARY(cusolverStatus_t, cusolverDnDorgqr)
__KM_LIBRARY(cusolverStatus_t, cusolverDnSorgqr_bufferSize)
__KM_LIBRARY(cusolverStatus_t, cusolverDnDorgqr_bufferSize)
__KM_LIBRARY(cusolverStatus_t, cusolverDnSormqr)
__KM_LIBRARY(cusolverStatus_t, cusolverDnDormqr)
__KM_LIBRARY(cusolverStatus_t, cusolverDnSormqr_bufferSize)
__KM_LIBRARY(cusolverStatus_t, cusolverDnDormqr_bufferSize)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, potrf)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, potrf_bufferSize)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, potrs)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, potri)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, potri_bufferSize)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, potrfBatched)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, potrsBatched)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, getrf)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, getrf_bufferSize)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, getrs)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, geqrf)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, geqrf_bufferSize)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, gesvd)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, gesvd_bufferSize)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, gesvdj)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, gesvdj_bufferSize)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, gesvdjBatched)
__KM_LIBRARY_SDCZ(cusolverStatus_t, cusolverDn, gesvdjBatched_bufferSize)
}
