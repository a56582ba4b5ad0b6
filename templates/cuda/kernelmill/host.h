// What code for the host in the same file names. It is parsed, and nothing is generated from it.
#pragma once

enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999
};
typedef enum cudaError cudaError_t;
typedef enum cudaError CUresult;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *cudaEvent_t;
typedef int CUdevice;
typedef __km_u64 CUdeviceptr;
typedef unsigned long long cudaTextureObject_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
typedef enum cudaDataType_t {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_R_8I = 3,
  CUDA_R_32I = 10,
  CUDA_R_16BF = 14
} cudaDataType_t;
typedef cudaDataType_t cudaDataType;
struct cudaDeviceProp {
  char name[256];
  __km_size totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
  int regsPerBlock, warpSize, maxThreadsPerBlock, major, minor, multiProcessorCount,
      maxThreadsPerMultiProcessor;
};
struct cudaFuncAttributes {
  __km_size sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, maxDynamicSharedSizeBytes;
};
extern "C" {
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char *cudaGetErrorString(cudaError_t);
const char *cudaGetErrorName(cudaError_t);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamCreate(cudaStream_t *);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaGetDevice(int *);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDeviceCount(int *);
cudaError_t cudaDeviceGetAttribute(int *, enum cudaDeviceAttr, int);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *, int);
cudaError_t cudaEventCreate(cudaEvent_t *);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaMemcpy(void *, const void *, __km_size, enum cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void *, const void *, __km_size, enum cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemset(void *, int, __km_size);
cudaError_t cudaMemsetAsync(void *, int, __km_size, cudaStream_t = 0);
cudaError_t cudaFree(void *);
cudaError_t cudaFreeAsync(void *, cudaStream_t);
cudaError_t cudaFreeHost(void *);
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, __km_size, cudaStream_t);
cudaError_t cudaConfigureCall(dim3, dim3, __km_size = 0, cudaStream_t = 0);
unsigned int __cudaPushCallConfiguration(dim3, dim3, __km_size = 0, struct CUstream_st * = 0);
}
template <class T> cudaError_t cudaMalloc(T **, __km_size);
template <class T> cudaError_t cudaMallocAsync(T **, __km_size, cudaStream_t);
template <class T> cudaError_t cudaMallocHost(T **, __km_size, unsigned int = 0);
template <class T> cudaError_t cudaMallocManaged(T **, __km_size, unsigned int = 1);
template <class T> cudaError_t cudaFuncSetAttribute(T *, enum cudaFuncAttribute, int);
template <class T> cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *, T *);
template <class T>
cudaError_t cudaMemcpyToSymbol(const T &, const void *, __km_size, __km_size = 0,
                               enum cudaMemcpyKind = cudaMemcpyHostToDevice);
template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, T, int, __km_size);
template <class T>
cudaError_t cudaLaunchCooperativeKernel(T *, dim3, dim3, void **, __km_size = 0, cudaStream_t = 0);
