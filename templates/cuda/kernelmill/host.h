// What code for the host in the same file names. It is parsed, and nothing is generated from it.
#pragma once

#include "host_constants.h"

typedef enum cudaError cudaError_t;
// Another type than the run time's: headers with helpers have a function for each.
typedef enum cudaError_enum {
  CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_OUT_OF_MEMORY = 2, CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_DEINITIALIZED = 4, CUDA_ERROR_NO_DEVICE = 100, CUDA_ERROR_INVALID_DEVICE = 101, CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201, CUDA_ERROR_NO_BINARY_FOR_GPU = 209, CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_FILE_NOT_FOUND = 301, CUDA_ERROR_INVALID_HANDLE = 400, CUDA_ERROR_NOT_FOUND = 500, CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701, CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_NOT_SUPPORTED = 801, CUDA_ERROR_UNKNOWN = 999
} CUresult;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUevent_st *CUevent;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUfunc_st *cudaFunction_t;
typedef struct CUkern_st *cudaKernel_t;
typedef struct CUlib_st *cudaLibrary_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUuserObject_st *cudaUserObject_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
typedef struct cudaGraphicsResource *cudaGraphicsResource_t;
typedef int CUdevice;
typedef __km_u64 CUdeviceptr;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef unsigned long long cudaGraphConditionalHandle;
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void *);
typedef void (*cudaHostFn_t)(void *);

#include "library_types.h"

typedef struct CUuuid_st {
  char bytes[16];
} cudaUUID_t;
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  __km_size totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor,
      reservedSharedMemPerBlock, totalConstMem, memPitch, textureAlignment, texturePitchAlignment,
      surfaceAlignment;
  int regsPerBlock, regsPerMultiprocessor, warpSize, maxThreadsPerBlock, major, minor,
      multiProcessorCount, maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor,
      maxThreadsDim[3], maxGridSize[3];
  int clockRate, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize,
      accessPolicyMaxWindowSize, asyncEngineCount, deviceOverlap, computeMode,
      kernelExecTimeoutEnabled, integrated, canMapHostMemory, concurrentKernels, ECCEnabled,
      pciBusID, pciDeviceID, pciDomainID, tccDriver, unifiedAddressing, streamPrioritiesSupported,
      globalL1CacheSupported, localL1CacheSupported, managedMemory, isMultiGpuBoard,
      multiGpuBoardGroupID, hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio,
      pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported,
      canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch,
      pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost,
      hostRegisterSupported, hostRegisterReadOnlySupported, sparseCudaArraySupported,
      memoryPoolsSupported, gpuDirectRDMASupported, ipcEventSupported, clusterLaunch,
      unifiedFunctionPointers;
  int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2],
      maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3],
      maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3],
      maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2], maxSurface3D[3];
};
struct cudaFuncAttributes {
  __km_size sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA,
      maxDynamicSharedSizeBytes, preferredShmemCarveout, clusterDimMustBeSet, requiredClusterWidth,
      requiredClusterHeight, requiredClusterDepth, nonPortableClusterSizeAllowed;
};
struct cudaPointerAttributes {
  enum cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};
struct cudaChannelFormatDesc {
  int x, y, z, w;
  enum cudaChannelFormatKind f;
};
struct cudaExtent {
  __km_size width, height, depth;
};
struct cudaPos {
  __km_size x, y, z;
};
struct cudaPitchedPtr {
  void *ptr;
  __km_size pitch, xsize, ysize;
};
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  struct cudaPos srcPos;
  struct cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  struct cudaPos dstPos;
  struct cudaPitchedPtr dstPtr;
  struct cudaExtent extent;
  enum cudaMemcpyKind kind;
};
struct cudaMemcpy3DPeerParms {
  cudaArray_t srcArray;
  struct cudaPos srcPos;
  struct cudaPitchedPtr srcPtr;
  int srcDevice;
  cudaArray_t dstArray;
  struct cudaPos dstPos;
  struct cudaPitchedPtr dstPtr;
  int dstDevice;
  struct cudaExtent extent;
};
struct cudaResourceDesc {
  enum cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      cudaMipmappedArray_t mipmap;
    } mipmap;
    struct {
      void *devPtr;
      struct cudaChannelFormatDesc desc;
      __km_size sizeInBytes;
    } linear;
    struct {
      void *devPtr;
      struct cudaChannelFormatDesc desc;
      __km_size width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct cudaTextureDesc {
  enum cudaTextureAddressMode addressMode[3];
  enum cudaTextureFilterMode filterMode;
  enum cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned int maxAnisotropy;
  enum cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
};
struct cudaMemLocation {
  enum cudaMemLocationType type;
  int id;
};
struct cudaMemAccessDesc {
  struct cudaMemLocation location;
  enum cudaMemAccessFlags flags;
};
struct cudaMemPoolProps {
  enum cudaMemAllocationType allocType;
  enum cudaMemAllocationHandleType handleTypes;
  struct cudaMemLocation location;
  void *win32SecurityAttributes;
  __km_size maxSize;
  unsigned short usage;
};
struct cudaAccessPolicyWindow {
  void *base_ptr;
  __km_size num_bytes;
  float hitRatio;
  enum cudaAccessProperty hitProp, missProp;
};
union cudaLaunchAttributeValue {
  struct cudaAccessPolicyWindow accessPolicyWindow;
  int cooperative;
  enum cudaSynchronizationPolicy syncPolicy;
  struct {
    unsigned int x, y, z;
  } clusterDim, preferredClusterDim;
  enum cudaClusterSchedulingPolicy clusterSchedulingPolicyPreference;
  int programmaticStreamSerializationAllowed;
  int priority;
};
typedef enum cudaLaunchAttributeID cudaStreamAttrID, cudaKernelNodeAttrID;
typedef union cudaLaunchAttributeValue cudaStreamAttrValue, cudaKernelNodeAttrValue;
#define cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributeSynchronizationPolicy cudaLaunchAttributeSynchronizationPolicy
#define cudaStreamAttributePriority cudaLaunchAttributePriority
typedef struct cudaLaunchAttribute_st {
  enum cudaLaunchAttributeID id;
  union cudaLaunchAttributeValue val;
} cudaLaunchAttribute;
typedef struct cudaLaunchConfig_st {
  dim3 gridDim, blockDim;
  __km_size dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned int numAttrs;
} cudaLaunchConfig_t;
struct cudaKernelNodeParams {
  void *func;
  dim3 gridDim, blockDim;
  unsigned int sharedMemBytes;
  void **kernelParams, **extra;
};
struct cudaMemsetParams {
  void *dst;
  __km_size pitch;
  unsigned int value, elementSize;
  __km_size width, height;
};
struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void *userData;
};
typedef struct cudaGraphExecUpdateResultInfo_st {
  enum cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
} cudaGraphExecUpdateResultInfo;
typedef struct cudaIpcEventHandle_st {
  char reserved[64];
} cudaIpcEventHandle_t;
typedef struct cudaIpcMemHandle_st {
  char reserved[64];
} cudaIpcMemHandle_t;

// Those that programs also take the address of, or call with braces for an argument.
extern "C" {
const char *cudaGetErrorString(cudaError_t);
const char *cudaGetErrorName(cudaError_t);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
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
// The toolkit's headers declare it, so sources call it without <stdio.h>.
int printf(const char *, ...);
// Functions of mathematics that C's library does not have.
float rsqrtf(float), rcbrtf(float), sinpif(float), cospif(float), erfinvf(float), erfcinvf(float),
    erfcxf(float), normcdff(float), normcdfinvf(float);
double rsqrt(double), rcbrt(double), sinpi(double), cospi(double), erfinv(double), erfcinv(double),
    erfcx(double), normcdf(double), normcdfinv(double);
}
// Questions about a number, which C's library has as macros: worse than any function of C++'s library, where that is read.
struct __km_number {
  template <class T> __km_number(T);
};
bool isnan(__km_number), isinf(__km_number), isfinite(__km_number), signbit(__km_number);
template <class T>
cudaError_t cudaLaunchKernel(T *, dim3, dim3, void **, __km_size = 0, cudaStream_t = 0);
cudaError_t cudaEventCreate(cudaEvent_t *, unsigned int);
struct cudaChannelFormatDesc cudaCreateChannelDesc(int, int, int, int, enum cudaChannelFormatKind);
template <class T> struct cudaChannelFormatDesc cudaCreateChannelDesc();
struct cudaExtent make_cudaExtent(__km_size, __km_size, __km_size);
struct cudaPos make_cudaPos(__km_size, __km_size, __km_size);
struct cudaPitchedPtr make_cudaPitchedPtr(void *, __km_size, __km_size, __km_size);

#include "host_functions.h"
