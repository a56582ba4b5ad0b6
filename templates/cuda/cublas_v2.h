// cuBLAS, which code for the host calls. It is parsed, and nothing is generated from it.
#pragma once
#define CUBLAS_V2_H_
#define CUBLAS_API_H_

#include "cuComplex.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "kernelmill/library.h"
#include "library_types.h"

extern "C++" {
typedef struct __km_cublasHandle_t *cublasHandle_t;
typedef enum {
  CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_INVALID_VALUE =
  7, CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11, CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15, CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum {
  CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C, CUBLAS_OP_HERMITAN = 2, CUBLAS_OP_CONJG
} cublasOperation_t;
typedef enum {
  CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL
} cublasFillMode_t;
typedef enum {
  CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT
} cublasDiagType_t;
typedef enum {
  CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT
} cublasSideMode_t;
typedef enum {
  CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE
} cublasPointerMode_t;
typedef enum {
  CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED
} cublasAtomicsMode_t;
typedef enum {
  CUBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH, CUBLAS_TF32_TENSOR_OP_MATH,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
  CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_16F_PEDANTIC = 65, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_64F_PEDANTIC = 71, CUBLAS_COMPUTE_32I = 72, CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74, CUBLAS_COMPUTE_32F_FAST_16BF = 75, CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum {
  CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_ALGO0, CUBLAS_GEMM_ALGO1, CUBLAS_GEMM_ALGO2,
  CUBLAS_GEMM_ALGO3, CUBLAS_GEMM_ALGO4, CUBLAS_GEMM_ALGO5, CUBLAS_GEMM_ALGO6, CUBLAS_GEMM_ALGO7, CUBLAS_GEMM_ALGO8,
  CUBLAS_GEMM_ALGO9, CUBLAS_GEMM_ALGO10, CUBLAS_GEMM_ALGO11, CUBLAS_GEMM_ALGO12, CUBLAS_GEMM_ALGO13, CUBLAS_GEMM_ALGO14,
  CUBLAS_GEMM_ALGO15, CUBLAS_GEMM_ALGO16, CUBLAS_GEMM_ALGO17, CUBLAS_GEMM_ALGO18, CUBLAS_GEMM_ALGO19, CUBLAS_GEMM_ALGO20,
  CUBLAS_GEMM_ALGO21, CUBLAS_GEMM_ALGO22, CUBLAS_GEMM_ALGO23, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99, CUBLAS_GEMM_ALGO0_TENSOR_OP,
  CUBLAS_GEMM_ALGO1_TENSOR_OP, CUBLAS_GEMM_ALGO2_TENSOR_OP, CUBLAS_GEMM_ALGO3_TENSOR_OP, CUBLAS_GEMM_ALGO4_TENSOR_OP,
  CUBLAS_GEMM_ALGO5_TENSOR_OP, CUBLAS_GEMM_ALGO6_TENSOR_OP, CUBLAS_GEMM_ALGO7_TENSOR_OP, CUBLAS_GEMM_ALGO8_TENSOR_OP,
  CUBLAS_GEMM_ALGO9_TENSOR_OP, CUBLAS_GEMM_ALGO10_TENSOR_OP, CUBLAS_GEMM_ALGO11_TENSOR_OP, CUBLAS_GEMM_ALGO12_TENSOR_OP,
  CUBLAS_GEMM_ALGO13_TENSOR_OP, CUBLAS_GEMM_ALGO14_TENSOR_OP, CUBLAS_GEMM_ALGO15_TENSOR_OP
} cublasGemmAlgo_t;
typedef cudaDataType cublasDataType_t;

__KM_LIBRARY(const char *, cublasGetStatusName)
__KM_LIBRARY(const char *, cublasGetStatusString)
__KM_LIBRARY(cublasStatus_t, cublasCreate)
__KM_LIBRARY(cublasStatus_t, cublasCreate_v2)
__KM_LIBRARY(cublasStatus_t, cublasDestroy)
__KM_LIBRARY(cublasStatus_t, cublasDestroy_v2)
__KM_LIBRARY(cublasStatus_t, cublasGetVersion)
__KM_LIBRARY(cublasStatus_t, cublasGetProperty)
__KM_LIBRARY(cublasStatus_t, cublasSetWorkspace)
__KM_LIBRARY(cublasStatus_t, cublasSetStream)
__KM_LIBRARY(cublasStatus_t, cublasSetStream_v2)
__KM_LIBRARY(cublasStatus_t, cublasGetStream)
__KM_LIBRARY(cublasStatus_t, cublasGetPointerMode)
__KM_LIBRARY(cublasStatus_t, cublasSetPointerMode)
__KM_LIBRARY(cublasStatus_t, cublasGetAtomicsMode)
__KM_LIBRARY(cublasStatus_t, cublasSetAtomicsMode)
__KM_LIBRARY(cublasStatus_t, cublasGetMathMode)
__KM_LIBRARY(cublasStatus_t, cublasSetMathMode)
__KM_LIBRARY(cublasStatus_t, cublasSetVector)
__KM_LIBRARY(cublasStatus_t, cublasGetVector)
__KM_LIBRARY(cublasStatus_t, cublasSetMatrix)
__KM_LIBRARY(cublasStatus_t, cublasGetMatrix)
__KM_LIBRARY(cublasStatus_t, cublasSetVectorAsync)
__KM_LIBRARY(cublasStatus_t, cublasGetVectorAsync)
__KM_LIBRARY(cublasStatus_t, cublasSetMatrixAsync)
__KM_LIBRARY(cublasStatus_t, cublasGetMatrixAsync)
__KM_LIBRARY(cublasStatus_t, cublasLoggerConfigure)
__KM_LIBRARY(cublasStatus_t, cublasAxpyEx)
__KM_LIBRARY(cublasStatus_t, cublasDotEx)
__KM_LIBRARY(cublasStatus_t, cublasDotcEx)
__KM_LIBRARY(cublasStatus_t, cublasScalEx)
__KM_LIBRARY(cublasStatus_t, cublasNrm2Ex)
__KM_LIBRARY(cublasStatus_t, cublasRotEx)
__KM_LIBRARY(cublasStatus_t, cublasAsumEx)
__KM_LIBRARY(cublasStatus_t, cublasCopyEx)
__KM_LIBRARY(cublasStatus_t, cublasSwapEx)
__KM_LIBRARY(cublasStatus_t, cublasIamaxEx)
__KM_LIBRARY(cublasStatus_t, cublasIaminEx)
__KM_LIBRARY(cublasStatus_t, cublasHgemm)
__KM_LIBRARY(cublasStatus_t, cublasHgemmBatched)
__KM_LIBRARY(cublasStatus_t, cublasHgemmStridedBatched)
__KM_LIBRARY(cublasStatus_t, cublasSgemmEx)
__KM_LIBRARY(cublasStatus_t, cublasCgemmEx)
__KM_LIBRARY(cublasStatus_t, cublasGemmEx)
__KM_LIBRARY(cublasStatus_t, cublasGemmBatchedEx)
__KM_LIBRARY(cublasStatus_t, cublasGemmStridedBatchedEx)
__KM_LIBRARY(cublasStatus_t, cublasIsamax)
__KM_LIBRARY(cublasStatus_t, cublasIdamax)
__KM_LIBRARY(cublasStatus_t, cublasIcamax)
__KM_LIBRARY(cublasStatus_t, cublasIzamax)
__KM_LIBRARY(cublasStatus_t, cublasIsamin)
__KM_LIBRARY(cublasStatus_t, cublasIdamin)
__KM_LIBRARY(cublasStatus_t, cublasIcamin)
__KM_LIBRARY(cublasStatus_t, cublasIzamin)
__KM_LIBRARY(cublasStatus_t, cublasSnrm2)
__KM_LIBRARY(cublasStatus_t, cublasDnrm2)
__KM_LIBRARY(cublasStatus_t, cublasScnrm2)
__KM_LIBRARY(cublasStatus_t, cublasDznrm2)
__KM_LIBRARY(cublasStatus_t, cublasSasum)
__KM_LIBRARY(cublasStatus_t, cublasDasum)
__KM_LIBRARY(cublasStatus_t, cublasScasum)
__KM_LIBRARY(cublasStatus_t, cublasDzasum)
__KM_LIBRARY(cublasStatus_t, cublasSdot)
__KM_LIBRARY(cublasStatus_t, cublasDdot)
__KM_LIBRARY(cublasStatus_t, cublasCdotu)
__KM_LIBRARY(cublasStatus_t, cublasCdotc)
__KM_LIBRARY(cublasStatus_t, cublasZdotu)
__KM_LIBRARY(cublasStatus_t, cublasZdotc)
__KM_LIBRARY(cublasStatus_t, cublasCsscal)
__KM_LIBRARY(cublasStatus_t, cublasZdscal)
__KM_LIBRARY(cublasStatus_t, cublasCsrot)
__KM_LIBRARY(cublasStatus_t, cublasZdrot)
__KM_LIBRARY(cublasStatus_t, cublasSrotm)
__KM_LIBRARY(cublasStatus_t, cublasDrotm)
__KM_LIBRARY(cublasStatus_t, cublasSrotmg)
__KM_LIBRARY(cublasStatus_t, cublasDrotmg)
__KM_LIBRARY(cublasStatus_t, cublasSger)
__KM_LIBRARY(cublasStatus_t, cublasDger)
__KM_LIBRARY(cublasStatus_t, cublasCgeru)
__KM_LIBRARY(cublasStatus_t, cublasCgerc)
__KM_LIBRARY(cublasStatus_t, cublasZgeru)
__KM_LIBRARY(cublasStatus_t, cublasZgerc)
__KM_LIBRARY(cublasStatus_t, cublasSsymv)
__KM_LIBRARY(cublasStatus_t, cublasDsymv)
__KM_LIBRARY(cublasStatus_t, cublasChemv)
__KM_LIBRARY(cublasStatus_t, cublasZhemv)
__KM_LIBRARY(cublasStatus_t, cublasSsyr)
__KM_LIBRARY(cublasStatus_t, cublasDsyr)
__KM_LIBRARY(cublasStatus_t, cublasCher)
__KM_LIBRARY(cublasStatus_t, cublasZher)
__KM_LIBRARY(cublasStatus_t, cublasSsyr2)
__KM_LIBRARY(cublasStatus_t, cublasDsyr2)
__KM_LIBRARY(cublasStatus_t, cublasCher2)
__KM_LIBRARY(cublasStatus_t, cublasZher2)
__KM_LIBRARY(cublasStatus_t, cublasSsbmv)
__KM_LIBRARY(cublasStatus_t, cublasDsbmv)
__KM_LIBRARY(cublasStatus_t, cublasChbmv)
__KM_LIBRARY(cublasStatus_t, cublasZhbmv)
__KM_LIBRARY(cublasStatus_t, cublasSspmv)
__KM_LIBRARY(cublasStatus_t, cublasDspmv)
__KM_LIBRARY(cublasStatus_t, cublasChpmv)
__KM_LIBRARY(cublasStatus_t, cublasZhpmv)
__KM_LIBRARY(cublasStatus_t, cublasCherk)
__KM_LIBRARY(cublasStatus_t, cublasZherk)
__KM_LIBRARY(cublasStatus_t, cublasCher2k)
__KM_LIBRARY(cublasStatus_t, cublasZher2k)
__KM_LIBRARY(cublasStatus_t, cublasChemm)
__KM_LIBRARY(cublasStatus_t, cublasZhemm)
__KM_LIBRARY(cublasStatus_t, cublasCgemm3m)
__KM_LIBRARY(cublasStatus_t, cublasZgemm3m)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, axpy)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, copy)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, scal)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, swap)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, rot)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, rotg)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, gemv)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, gbmv)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, trmv)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, tbmv)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, tpmv)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, trsv)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, tbsv)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, tpsv)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, gemm)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, gemmBatched)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, gemmStridedBatched)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, gemvBatched)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, gemvStridedBatched)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, symm)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, syrk)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, syr2k)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, syrkx)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, trmm)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, trsm)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, trsmBatched)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, geam)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, dgmm)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, getrfBatched)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, getrsBatched)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, getriBatched)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, matinvBatched)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, geqrfBatched)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, gelsBatched)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, tpttr)
__KM_LIBRARY_SDCZ(cublasStatus_t, cublas, trttp)
}
