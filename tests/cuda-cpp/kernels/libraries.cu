// Kernels in a file whose host code calls libraries, and asks about numbers: none of the libraries is installed where it is
// read.
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <omp.h>
#include <stdio.h>

namespace cg = cooperative_groups;

// Sums before each lane of a tile, with it, and the greatest up to it, and the same among the lanes of its parity.
__global__ void scans(int *out, const int *numbers) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int number = numbers[threadIdx.x], *own = out + 5 * threadIdx.x;
  own[0] = cg::exclusive_scan(tile, number);
  own[1] = cg::inclusive_scan(tile, number);
  own[2] = cg::inclusive_scan(tile, number, cg::greater<int>());
  auto parity = cg::binary_partition(tile, threadIdx.x % 2 == 1);
  own[3] = cg::exclusive_scan(parity, number, cg::plus<int>());
  own[4] = cg::inclusive_scan(parity, number);
}

// On the side of the device these are functions of the device.
__global__ void kinds(int *out, const float *numbers) {
  float number = numbers[threadIdx.x];
  out[threadIdx.x] = isnan(number) + 2 * isinf(number) + 4 * isfinite(number) + 8 * signbit(number);
}

template <class T> static int strange(const T *numbers, int count) {
  int found = 0;
  for (int i = 0; i < count; ++i)
    found += isnan(numbers[i]) || isinf(numbers[i]) || !isfinite(numbers[i]) || signbit(numbers[i]);
  return found;
}

#define CHECK(call) check((call), __LINE__)
static void check(cublasStatus_t status, int line) {
  if (status != CUBLAS_STATUS_SUCCESS) printf("line %d: %s\n", line, cublasGetStatusString(status));
}

static void multiply(const float *a, const float *b, float *c, int n, cudaStream_t stream) {
  const float one = 1.0f, zero = 0.0f;
  cublasHandle_t handle;
  CHECK(cublasCreate(&handle));
  CHECK(cublasSetStream(handle, stream));
  CHECK(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
  CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, a, n, b, n, &zero, c, n));
  CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, CUDA_R_32F, n, b, CUDA_R_32F, n, &zero, c,
                     CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  CHECK(cublasDestroy(handle));
  cublasLtMatmulDesc_t product;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;
  CHECK(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  CHECK(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue)));
}

// Headers that programs share have a function for the errors of each library, where they find its header's guard.
#if !defined CUBLAS_API_H_ || !defined _CUFFT_H_ || !defined CURAND_H_ || !defined CUSPARSEAPI || !defined CUSOLVER_COMMON_H_
#error "a header that was read has no guard"
#endif
static const char *name_of(cudaError_t error) { return cudaGetErrorName(error); }
static const char *name_of(CUresult error) {
  const char *name = nullptr;
  return cuGetErrorName(error, &name) == CUDA_SUCCESS ? name : "unknown";
}
static const char *name_of(cublasStatus_t error) { return cublasGetStatusName(error); }
static const char *name_of(cufftResult error) { return error == CUFFT_SUCCESS ? "none" : "cuFFT"; }
static const char *name_of(curandStatus_t error) { return error == CURAND_STATUS_SUCCESS ? "none" : "cuRAND"; }
static const char *name_of(cusparseStatus_t error) { return cusparseGetErrorName(error); }
static const char *name_of(cusolverStatus_t error) { return error == CUSOLVER_STATUS_SUCCESS ? "none" : "cuSOLVER"; }

int main() {
  CUdevice device = 0;
  printf("%s %s", name_of(cudaSetDevice(0)), name_of(cuDeviceGet(&device, 0)));
  float *numbers = nullptr;
  cufftHandle plan;
  cufftResult planned = cufftPlan1d(&plan, 64, CUFFT_C2C, 1);
  planned = cufftExecC2C(plan, (cufftComplex *)numbers, (cufftComplex *)numbers, CUFFT_FORWARD);
  curandGenerator_t generator;
  if (curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10) != CURAND_STATUS_SUCCESS) return 1;
  curandGenerateUniform(generator, numbers, 64);
  cusparseSpMatDescr_t matrix;
  cusparseCreateCsr(&matrix, 4, 4, 4, nullptr, nullptr, numbers, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusolverDnHandle_t solver;
  cusolverStatus_t made = cusolverDnCreate(&solver);
  int size = 0;
  cusolverDnSpotrf_bufferSize(solver, CUBLAS_FILL_MODE_LOWER, 4, numbers, 4, &size);
  nvtxRangePush("products");
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) multiply(numbers, numbers, numbers, 8, nullptr);
  nvtxRangePop();
  scans<<<1, 32>>>(nullptr, nullptr);
  return strange(numbers, 4) + (planned != CUFFT_SUCCESS) + (made != CUSOLVER_STATUS_SUCCESS);
}
