// Marks for profilers, which code for the host sets. It is parsed, and nothing is generated from it.
#pragma once

#include "../kernelmill/library.h"

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((unsigned short)sizeof(nvtxEventAttributes_t))

extern "C++" {
typedef enum { NVTX_COLOR_UNKNOWN, NVTX_COLOR_ARGB } nvtxColorType_t;
typedef enum {
  NVTX_MESSAGE_UNKNOWN, NVTX_MESSAGE_TYPE_ASCII, NVTX_MESSAGE_TYPE_UNICODE, NVTX_MESSAGE_TYPE_REGISTERED
} nvtxMessageType_t;
typedef enum {
  NVTX_PAYLOAD_UNKNOWN, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, NVTX_PAYLOAD_TYPE_INT64, NVTX_PAYLOAD_TYPE_DOUBLE,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32, NVTX_PAYLOAD_TYPE_INT32, NVTX_PAYLOAD_TYPE_FLOAT
} nvtxPayloadType_t;
typedef struct __km_nvtxDomain *nvtxDomainHandle_t;
typedef struct __km_nvtxString *nvtxStringHandle_t;
typedef unsigned long long nvtxRangeId_t;
typedef union {
  const char *ascii;
  const wchar_t *unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct {
  unsigned short version, size;
  unsigned int category;
  int colorType;
  unsigned int color;
  int payloadType, reserved0;
  union {
    unsigned long long ullValue;
    long long llValue;
    double dValue;
    unsigned int uiValue;
    int iValue;
    float fValue;
  } payload;
  int messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_t;

__KM_LIBRARY(nvtxDomainHandle_t, nvtxDomainCreateA)
__KM_LIBRARY(nvtxDomainHandle_t, nvtxDomainCreateW)
__KM_LIBRARY(nvtxStringHandle_t, nvtxDomainRegisterStringA)
__KM_LIBRARY(nvtxRangeId_t, nvtxDomainRangeStartEx)
__KM_LIBRARY(nvtxRangeId_t, nvtxRangeStartEx)
__KM_LIBRARY(nvtxRangeId_t, nvtxRangeStartA)
__KM_LIBRARY(nvtxRangeId_t, nvtxRangeStartW)
__KM_LIBRARY(int, nvtxDomainRangePushEx)
__KM_LIBRARY(int, nvtxDomainRangePop)
__KM_LIBRARY(int, nvtxRangePushEx)
__KM_LIBRARY(int, nvtxRangePushA)
__KM_LIBRARY(int, nvtxRangePushW)
__KM_LIBRARY(int, nvtxRangePop)
__KM_LIBRARY(void, nvtxInitialize)
__KM_LIBRARY(void, nvtxDomainDestroy)
__KM_LIBRARY(void, nvtxDomainMarkEx)
__KM_LIBRARY(void, nvtxDomainRangeEnd)
__KM_LIBRARY(void, nvtxMarkEx)
__KM_LIBRARY(void, nvtxMarkA)
__KM_LIBRARY(void, nvtxMarkW)
__KM_LIBRARY(void, nvtxRangeEnd)
__KM_LIBRARY(void, nvtxNameCategoryA)
__KM_LIBRARY(void, nvtxNameOsThreadA)
__KM_LIBRARY(void, nvtxNameCudaDeviceA)
__KM_LIBRARY(void, nvtxNameCudaStreamA)
__KM_LIBRARY(void, nvtxNameCudaEventA)
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA
}
