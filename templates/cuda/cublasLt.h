// cuBLASLt, which code for the host calls. It is parsed, and nothing is generated from it.
#pragma once

#include "cublas_v2.h"

extern "C++" {
typedef struct __km_cublasLtHandle_t *cublasLtHandle_t;
typedef struct {
  unsigned long long data[32];
} cublasLtMatmulDescOpaque_t;
typedef cublasLtMatmulDescOpaque_t *cublasLtMatmulDesc_t;
typedef struct {
  unsigned long long data[32];
} cublasLtMatrixLayoutOpaque_t;
typedef cublasLtMatrixLayoutOpaque_t *cublasLtMatrixLayout_t;
typedef struct {
  unsigned long long data[32];
} cublasLtMatmulPreferenceOpaque_t;
typedef cublasLtMatmulPreferenceOpaque_t *cublasLtMatmulPreference_t;
typedef struct {
  unsigned long long data[32];
} cublasLtMatrixTransformDescOpaque_t;
typedef cublasLtMatrixTransformDescOpaque_t *cublasLtMatrixTransformDesc_t;
typedef struct {
  unsigned long long data[8];
} cublasLtMatmulAlgo_t;
typedef struct {
  cublasLtMatmulAlgo_t algo;
  __km_size workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
} cublasLtMatmulHeuristicResult_t;
typedef enum {
  CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, CUBLASLT_MATMUL_DESC_SCALE_TYPE, CUBLASLT_MATMUL_DESC_POINTER_MODE,
  CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB, CUBLASLT_MATMUL_DESC_TRANSC, CUBLASLT_MATMUL_DESC_FILL_MODE,
  CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_MATMUL_DESC_BIAS_POINTER, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE,
  CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER = 17, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
  CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, CUBLASLT_MATMUL_DESC_FAST_ACCUM, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE
} cublasLtMatmulDescAttributes_t;
typedef enum {
  CUBLASLT_EPILOGUE_DEFAULT = 1, CUBLASLT_EPILOGUE_RELU = 2, CUBLASLT_EPILOGUE_BIAS = 4, CUBLASLT_EPILOGUE_RELU_BIAS = 6,
  CUBLASLT_EPILOGUE_DRELU = 136, CUBLASLT_EPILOGUE_DRELU_BGRAD = 152, CUBLASLT_EPILOGUE_RELU_AUX = 130,
  CUBLASLT_EPILOGUE_RELU_AUX_BIAS = 134, CUBLASLT_EPILOGUE_GELU = 32, CUBLASLT_EPILOGUE_GELU_BIAS = 36,
  CUBLASLT_EPILOGUE_GELU_AUX = 160, CUBLASLT_EPILOGUE_GELU_AUX_BIAS = 164, CUBLASLT_EPILOGUE_DGELU = 192,
  CUBLASLT_EPILOGUE_DGELU_BGRAD = 208, CUBLASLT_EPILOGUE_BGRADA = 256, CUBLASLT_EPILOGUE_BGRADB = 512
} cublasLtEpilogue_t;
typedef enum {
  CUBLASLT_MATRIX_LAYOUT_TYPE, CUBLASLT_MATRIX_LAYOUT_ORDER, CUBLASLT_MATRIX_LAYOUT_ROWS, CUBLASLT_MATRIX_LAYOUT_COLS,
  CUBLASLT_MATRIX_LAYOUT_LD, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
  CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET
} cublasLtMatrixLayoutAttribute_t;
typedef enum {
  CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW, CUBLASLT_ORDER_COL32, CUBLASLT_ORDER_COL4_4R2_8C, CUBLASLT_ORDER_COL32_2R_4R4
} cublasLtOrder_t;
typedef enum {
  CUBLASLT_POINTER_MODE_HOST, CUBLASLT_POINTER_MODE_DEVICE, CUBLASLT_POINTER_MODE_DEVICE_VECTOR,
  CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO, CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST
} cublasLtPointerMode_t;
typedef enum {
  CUBLASLT_MATMUL_PREF_SEARCH_MODE = 0, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK =
  3, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
  CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, CUBLASLT_MATMUL_PREF_IMPL_MASK = 12
} cublasLtMatmulPreferenceAttributes_t;
__KM_LIBRARY(cublasStatus_t, cublasLtCreate)
__KM_LIBRARY(cublasStatus_t, cublasLtDestroy)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmul)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulAlgoGetHeuristic)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulAlgoGetIds)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulAlgoInit)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulAlgoCheck)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulAlgoCapGetAttribute)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulAlgoConfigSetAttribute)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulAlgoConfigGetAttribute)
__KM_LIBRARY(cublasStatus_t, cublasLtMatrixTransform)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulDescInit)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulDescCreate)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulDescDestroy)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulDescSetAttribute)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulDescGetAttribute)
__KM_LIBRARY(cublasStatus_t, cublasLtMatrixLayoutInit)
__KM_LIBRARY(cublasStatus_t, cublasLtMatrixLayoutCreate)
__KM_LIBRARY(cublasStatus_t, cublasLtMatrixLayoutDestroy)
__KM_LIBRARY(cublasStatus_t, cublasLtMatrixLayoutSetAttribute)
__KM_LIBRARY(cublasStatus_t, cublasLtMatrixLayoutGetAttribute)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulPreferenceInit)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulPreferenceCreate)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulPreferenceDestroy)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulPreferenceSetAttribute)
__KM_LIBRARY(cublasStatus_t, cublasLtMatmulPreferenceGetAttribute)
__KM_LIBRARY(cublasStatus_t, cublasLtMatrixTransformDescInit)
__KM_LIBRARY(cublasStatus_t, cublasLtMatrixTransformDescCreate)
__KM_LIBRARY(cublasStatus_t, cublasLtMatrixTransformDescDestroy)
__KM_LIBRARY(cublasStatus_t, cublasLtMatrixTransformDescSetAttribute)
__KM_LIBRARY(cublasStatus_t, cublasLtMatrixTransformDescGetAttribute)
}
