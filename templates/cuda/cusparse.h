// cuSPARSE, which code for the host calls. It is parsed, and nothing is generated from it.
#pragma once
#define _CUSPARSE_H_
#define CUSPARSEAPI

#include "cuComplex.h"
#include "kernelmill/library.h"
#include "library_types.h"

extern "C++" {
typedef struct __km_cusparseHandle_t *cusparseHandle_t;
typedef struct __km_cusparseMatDescr_t *cusparseMatDescr_t;
typedef struct __km_cusparseSpVecDescr_t *cusparseSpVecDescr_t;
typedef struct __km_cusparseDnVecDescr_t *cusparseDnVecDescr_t;
typedef struct __km_cusparseSpMatDescr_t *cusparseSpMatDescr_t;
typedef struct __km_cusparseDnMatDescr_t *cusparseDnMatDescr_t;
typedef struct __km_cusparseSpGEMMDescr_t *cusparseSpGEMMDescr_t;
typedef struct __km_cusparseSpSVDescr_t *cusparseSpSVDescr_t;
typedef struct __km_cusparseSpSMDescr_t *cusparseSpSMDescr_t;
typedef struct __km_cusparseColorInfo_t *cusparseColorInfo_t;
typedef struct __km_csrilu02Info_t *csrilu02Info_t;
typedef struct __km_csric02Info_t *csric02Info_t;
typedef struct __km_csrsv2Info_t *csrsv2Info_t;
typedef struct __km_csrsm2Info_t *csrsm2Info_t;
typedef struct __km_bsrsv2Info_t *bsrsv2Info_t;
typedef struct __km_csrgemm2Info_t *csrgemm2Info_t;
typedef struct __km_csru2csrInfo_t *csru2csrInfo_t;
typedef struct __km_pruneInfo_t *pruneInfo_t;
typedef const struct __km_cusparseSpVecDescr_t *cusparseConstSpVecDescr_t;
typedef const struct __km_cusparseDnVecDescr_t *cusparseConstDnVecDescr_t;
typedef const struct __km_cusparseSpMatDescr_t *cusparseConstSpMatDescr_t;
typedef const struct __km_cusparseDnMatDescr_t *cusparseConstDnMatDescr_t;
typedef enum {
  CUSPARSE_STATUS_SUCCESS, CUSPARSE_STATUS_NOT_INITIALIZED, CUSPARSE_STATUS_ALLOC_FAILED, CUSPARSE_STATUS_INVALID_VALUE,
  CUSPARSE_STATUS_ARCH_MISMATCH, CUSPARSE_STATUS_MAPPING_ERROR, CUSPARSE_STATUS_EXECUTION_FAILED,
  CUSPARSE_STATUS_INTERNAL_ERROR, CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, CUSPARSE_STATUS_ZERO_PIVOT,
  CUSPARSE_STATUS_NOT_SUPPORTED, CUSPARSE_STATUS_INSUFFICIENT_RESOURCES
} cusparseStatus_t;
typedef enum {
  CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE
} cusparseOperation_t;
typedef enum {
  CUSPARSE_POINTER_MODE_HOST, CUSPARSE_POINTER_MODE_DEVICE
} cusparsePointerMode_t;
typedef enum {
  CUSPARSE_ACTION_SYMBOLIC, CUSPARSE_ACTION_NUMERIC
} cusparseAction_t;
typedef enum {
  CUSPARSE_MATRIX_TYPE_GENERAL, CUSPARSE_MATRIX_TYPE_SYMMETRIC, CUSPARSE_MATRIX_TYPE_HERMITIAN,
  CUSPARSE_MATRIX_TYPE_TRIANGULAR
} cusparseMatrixType_t;
typedef enum {
  CUSPARSE_FILL_MODE_LOWER, CUSPARSE_FILL_MODE_UPPER
} cusparseFillMode_t;
typedef enum {
  CUSPARSE_DIAG_TYPE_NON_UNIT, CUSPARSE_DIAG_TYPE_UNIT
} cusparseDiagType_t;
typedef enum {
  CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_INDEX_BASE_ONE
} cusparseIndexBase_t;
typedef enum {
  CUSPARSE_DIRECTION_ROW, CUSPARSE_DIRECTION_COLUMN
} cusparseDirection_t;
typedef enum {
  CUSPARSE_SOLVE_POLICY_NO_LEVEL, CUSPARSE_SOLVE_POLICY_USE_LEVEL
} cusparseSolvePolicy_t;
typedef enum {
  CUSPARSE_SPMAT_FILL_MODE, CUSPARSE_SPMAT_DIAG_TYPE
} cusparseSpMatAttribute_t;
typedef enum {
  CUSPARSE_SPGEMM_DEFAULT, CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC, CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC,
  CUSPARSE_SPGEMM_ALG1, CUSPARSE_SPGEMM_ALG2, CUSPARSE_SPGEMM_ALG3
} cusparseSpGEMMAlg_t;
typedef enum {
  CUSPARSE_SPSV_ALG_DEFAULT
} cusparseSpSVAlg_t;
typedef enum {
  CUSPARSE_SPSM_ALG_DEFAULT
} cusparseSpSMAlg_t;
typedef enum {
  CUSPARSE_SDDMM_ALG_DEFAULT
} cusparseSDDMMAlg_t;
typedef enum {
  CUSPARSE_SPARSETODENSE_ALG_DEFAULT
} cusparseSparseToDenseAlg_t;
typedef enum {
  CUSPARSE_DENSETOSPARSE_ALG_DEFAULT
} cusparseDenseToSparseAlg_t;
typedef enum {
  CUSPARSE_SPMV_ALG_DEFAULT, CUSPARSE_SPMV_COO_ALG1, CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2, CUSPARSE_SPMV_COO_ALG2
} cusparseSpMVAlg_t;
typedef enum {
  CUSPARSE_SPMM_ALG_DEFAULT, CUSPARSE_SPMM_COO_ALG1, CUSPARSE_SPMM_COO_ALG2, CUSPARSE_SPMM_COO_ALG3, CUSPARSE_SPMM_CSR_ALG1,
  CUSPARSE_SPMM_COO_ALG4, CUSPARSE_SPMM_CSR_ALG2
} cusparseSpMMAlg_t;
typedef enum {
  CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_64I
} cusparseIndexType_t;
typedef enum {
  CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW
} cusparseOrder_t;
typedef enum {
  CUSPARSE_FORMAT_CSR = 1, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO, CUSPARSE_FORMAT_BLOCKED_ELL = 5, CUSPARSE_FORMAT_BSR
} cusparseFormat_t;
typedef enum {
  CUSPARSE_CSR2CSC_ALG_DEFAULT = 1, CUSPARSE_CSR2CSC_ALG1 = 1
} cusparseCsr2CscAlg_t;

__KM_LIBRARY(const char *, cusparseGetErrorName)
__KM_LIBRARY(const char *, cusparseGetErrorString)
__KM_LIBRARY(cusparseIndexBase_t, cusparseGetMatIndexBase)
__KM_LIBRARY(cusparseMatrixType_t, cusparseGetMatType)
__KM_LIBRARY(cusparseStatus_t, cusparseCreate)
__KM_LIBRARY(cusparseStatus_t, cusparseDestroy)
__KM_LIBRARY(cusparseStatus_t, cusparseGetVersion)
__KM_LIBRARY(cusparseStatus_t, cusparseSetStream)
__KM_LIBRARY(cusparseStatus_t, cusparseGetStream)
__KM_LIBRARY(cusparseStatus_t, cusparseSetPointerMode)
__KM_LIBRARY(cusparseStatus_t, cusparseGetPointerMode)
__KM_LIBRARY(cusparseStatus_t, cusparseCreateMatDescr)
__KM_LIBRARY(cusparseStatus_t, cusparseDestroyMatDescr)
__KM_LIBRARY(cusparseStatus_t, cusparseSetMatType)
__KM_LIBRARY(cusparseStatus_t, cusparseSetMatFillMode)
__KM_LIBRARY(cusparseStatus_t, cusparseSetMatDiagType)
__KM_LIBRARY(cusparseStatus_t, cusparseSetMatIndexBase)
__KM_LIBRARY(cusparseStatus_t, cusparseCreateCsrilu02Info)
__KM_LIBRARY(cusparseStatus_t, cusparseDestroyCsrilu02Info)
__KM_LIBRARY(cusparseStatus_t, cusparseCreateCsric02Info)
__KM_LIBRARY(cusparseStatus_t, cusparseDestroyCsric02Info)
__KM_LIBRARY(cusparseStatus_t, cusparseCreateCsrsv2Info)
__KM_LIBRARY(cusparseStatus_t, cusparseDestroyCsrsv2Info)
__KM_LIBRARY(cusparseStatus_t, cusparseCreateSpVec)
__KM_LIBRARY(cusparseStatus_t, cusparseDestroySpVec)
__KM_LIBRARY(cusparseStatus_t, cusparseSpVecGet)
__KM_LIBRARY(cusparseStatus_t, cusparseSpVecSetValues)
__KM_LIBRARY(cusparseStatus_t, cusparseCreateDnVec)
__KM_LIBRARY(cusparseStatus_t, cusparseDestroyDnVec)
__KM_LIBRARY(cusparseStatus_t, cusparseDnVecGet)
__KM_LIBRARY(cusparseStatus_t, cusparseDnVecGetValues)
__KM_LIBRARY(cusparseStatus_t, cusparseDnVecSetValues)
__KM_LIBRARY(cusparseStatus_t, cusparseDestroySpMat)
__KM_LIBRARY(cusparseStatus_t, cusparseSpMatGetFormat)
__KM_LIBRARY(cusparseStatus_t, cusparseSpMatGetIndexBase)
__KM_LIBRARY(cusparseStatus_t, cusparseSpMatGetValues)
__KM_LIBRARY(cusparseStatus_t, cusparseSpMatSetValues)
__KM_LIBRARY(cusparseStatus_t, cusparseSpMatGetSize)
__KM_LIBRARY(cusparseStatus_t, cusparseSpMatGetStridedBatch)
__KM_LIBRARY(cusparseStatus_t, cusparseSpMatSetStridedBatch)
__KM_LIBRARY(cusparseStatus_t, cusparseSpMatGetAttribute)
__KM_LIBRARY(cusparseStatus_t, cusparseSpMatSetAttribute)
__KM_LIBRARY(cusparseStatus_t, cusparseCreateCsr)
__KM_LIBRARY(cusparseStatus_t, cusparseCreateCsc)
__KM_LIBRARY(cusparseStatus_t, cusparseCreateCoo)
__KM_LIBRARY(cusparseStatus_t, cusparseCreateBsr)
__KM_LIBRARY(cusparseStatus_t, cusparseCreateBlockedEll)
__KM_LIBRARY(cusparseStatus_t, cusparseCsrGet)
__KM_LIBRARY(cusparseStatus_t, cusparseCsrSetPointers)
__KM_LIBRARY(cusparseStatus_t, cusparseCscSetPointers)
__KM_LIBRARY(cusparseStatus_t, cusparseCooSetPointers)
__KM_LIBRARY(cusparseStatus_t, cusparseCooGet)
__KM_LIBRARY(cusparseStatus_t, cusparseCsrSetStridedBatch)
__KM_LIBRARY(cusparseStatus_t, cusparseCooSetStridedBatch)
__KM_LIBRARY(cusparseStatus_t, cusparseCreateDnMat)
__KM_LIBRARY(cusparseStatus_t, cusparseDestroyDnMat)
__KM_LIBRARY(cusparseStatus_t, cusparseDnMatGet)
__KM_LIBRARY(cusparseStatus_t, cusparseDnMatGetValues)
__KM_LIBRARY(cusparseStatus_t, cusparseDnMatSetValues)
__KM_LIBRARY(cusparseStatus_t, cusparseDnMatSetStridedBatch)
__KM_LIBRARY(cusparseStatus_t, cusparseAxpby)
__KM_LIBRARY(cusparseStatus_t, cusparseGather)
__KM_LIBRARY(cusparseStatus_t, cusparseScatter)
__KM_LIBRARY(cusparseStatus_t, cusparseRot)
__KM_LIBRARY(cusparseStatus_t, cusparseSpVV)
__KM_LIBRARY(cusparseStatus_t, cusparseSpVV_bufferSize)
__KM_LIBRARY(cusparseStatus_t, cusparseSparseToDense)
__KM_LIBRARY(cusparseStatus_t, cusparseSparseToDense_bufferSize)
__KM_LIBRARY(cusparseStatus_t, cusparseDenseToSparse_bufferSize)
__KM_LIBRARY(cusparseStatus_t, cusparseDenseToSparse_analysis)
__KM_LIBRARY(cusparseStatus_t, cusparseDenseToSparse_convert)
__KM_LIBRARY(cusparseStatus_t, cusparseSpMV)
__KM_LIBRARY(cusparseStatus_t, cusparseSpMV_bufferSize)
__KM_LIBRARY(cusparseStatus_t, cusparseSpMV_preprocess)
__KM_LIBRARY(cusparseStatus_t, cusparseSpSV_createDescr)
__KM_LIBRARY(cusparseStatus_t, cusparseSpSV_destroyDescr)
__KM_LIBRARY(cusparseStatus_t, cusparseSpSV_bufferSize)
__KM_LIBRARY(cusparseStatus_t, cusparseSpSV_analysis)
__KM_LIBRARY(cusparseStatus_t, cusparseSpSV_solve)
__KM_LIBRARY(cusparseStatus_t, cusparseSpSV_updateMatrix)
__KM_LIBRARY(cusparseStatus_t, cusparseSpSM_createDescr)
__KM_LIBRARY(cusparseStatus_t, cusparseSpSM_destroyDescr)
__KM_LIBRARY(cusparseStatus_t, cusparseSpSM_bufferSize)
__KM_LIBRARY(cusparseStatus_t, cusparseSpSM_analysis)
__KM_LIBRARY(cusparseStatus_t, cusparseSpSM_solve)
__KM_LIBRARY(cusparseStatus_t, cusparseSpMM)
__KM_LIBRARY(cusparseStatus_t, cusparseSpMM_bufferSize)
__KM_LIBRARY(cusparseStatus_t, cusparseSpMM_preprocess)
__KM_LIBRARY(cusparseStatus_t, cusparseSpGEMM_createDescr)
__KM_LIBRARY(cusparseStatus_t, cusparseSpGEMM_destroyDescr)
__KM_LIBRARY(cusparseStatus_t, cusparseSpGEMM_workEstimation)
__KM_LIBRARY(cusparseStatus_t, cusparseSpGEMM_compute)
__KM_LIBRARY(cusparseStatus_t, cusparseSpGEMM_copy)
__KM_LIBRARY(cusparseStatus_t, cusparseSpGEMM_estimateMemory)
__KM_LIBRARY(cusparseStatus_t, cusparseSpGEMMreuse_workEstimation)
__KM_LIBRARY(cusparseStatus_t, cusparseSpGEMMreuse_nnz)
__KM_LIBRARY(cusparseStatus_t, cusparseSpGEMMreuse_copy)
__KM_LIBRARY(cusparseStatus_t, cusparseSpGEMMreuse_compute)
__KM_LIBRARY(cusparseStatus_t, cusparseSDDMM)
__KM_LIBRARY(cusparseStatus_t, cusparseSDDMM_bufferSize)
__KM_LIBRARY(cusparseStatus_t, cusparseSDDMM_preprocess)
__KM_LIBRARY(cusparseStatus_t, cusparseCsr2cscEx2)
__KM_LIBRARY(cusparseStatus_t, cusparseCsr2cscEx2_bufferSize)
__KM_LIBRARY(cusparseStatus_t, cusparseXcoo2csr)
__KM_LIBRARY(cusparseStatus_t, cusparseXcsr2coo)
__KM_LIBRARY(cusparseStatus_t, cusparseXcsrsort)
__KM_LIBRARY(cusparseStatus_t, cusparseXcsrsort_bufferSizeExt)
__KM_LIBRARY(cusparseStatus_t, cusparseXcoosort_bufferSizeExt)
__KM_LIBRARY(cusparseStatus_t, cusparseXcoosortByRow)
__KM_LIBRARY(cusparseStatus_t, cusparseXcoosortByColumn)
__KM_LIBRARY(cusparseStatus_t, cusparseCreateIdentityPermutation)
__KM_LIBRARY(cusparseStatus_t, cusparseXcsrilu02_zeroPivot)
__KM_LIBRARY(cusparseStatus_t, cusparseXcsric02_zeroPivot)
__KM_LIBRARY(cusparseStatus_t, cusparseXcsrsv2_zeroPivot)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, gthr)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, gthrz)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, sctr)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, axpyi)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, gemvi)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, nnz)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, csrilu02)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, csrilu02_bufferSize)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, csrilu02_analysis)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, csric02)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, csric02_bufferSize)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, csric02_analysis)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, csrsv2_bufferSize)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, csrsv2_analysis)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, csrsv2_solve)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, gtsv2)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, gtsv2_bufferSizeExt)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, gtsv2_nopivot)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, gtsv2_nopivot_bufferSizeExt)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, gtsv2StridedBatch)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, gtsv2StridedBatch_bufferSizeExt)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, csrgeam2)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, csrgeam2_bufferSizeExt)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, csr2bsr)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, bsr2csr)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, bsrmv)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, bsrmm)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, csr2dense)
__KM_LIBRARY_SDCZ(cusparseStatus_t, cusparse, dense2csr)
}
