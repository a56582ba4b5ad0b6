// The functions of cuRAND which code for the host calls. It is parsed, and nothing is generated from it.
#pragma once
#define CURAND_H_

#include "kernelmill/library.h"

extern "C++" {
typedef struct __km_curandGenerator_t *curandGenerator_t;
typedef struct __km_curandDiscreteDistribution_t *curandDiscreteDistribution_t;
typedef enum {
  CURAND_STATUS_SUCCESS = 0, CURAND_STATUS_VERSION_MISMATCH = 100, CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102, CURAND_STATUS_TYPE_ERROR = 103, CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105, CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106, CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202, CURAND_STATUS_INITIALIZATION_FAILED = 203, CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999
} curandStatus_t;
typedef curandStatus_t curandStatus;
typedef enum {
  CURAND_RNG_TEST = 0, CURAND_RNG_PSEUDO_DEFAULT = 100, CURAND_RNG_PSEUDO_XORWOW = 101, CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141, CURAND_RNG_PSEUDO_MT19937 = 142, CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200, CURAND_RNG_QUASI_SOBOL32 = 201, CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
  CURAND_RNG_QUASI_SOBOL64 = 203, CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
} curandRngType_t;
typedef enum {
  CURAND_ORDERING_PSEUDO_BEST = 100, CURAND_ORDERING_PSEUDO_DEFAULT = 101, CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103, CURAND_ORDERING_PSEUDO_DYNAMIC = 104, CURAND_ORDERING_QUASI_DEFAULT = 201
} curandOrdering_t;
typedef enum {
  CURAND_DIRECTION_VECTORS_32_JOEKUO6 = 101, CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6,
  CURAND_DIRECTION_VECTORS_64_JOEKUO6, CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6
} curandDirectionVectorSet_t;
typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];

__KM_LIBRARY(curandStatus_t, curandCreateGenerator)
__KM_LIBRARY(curandStatus_t, curandCreateGeneratorHost)
__KM_LIBRARY(curandStatus_t, curandDestroyGenerator)
__KM_LIBRARY(curandStatus_t, curandGetVersion)
__KM_LIBRARY(curandStatus_t, curandGetProperty)
__KM_LIBRARY(curandStatus_t, curandSetStream)
__KM_LIBRARY(curandStatus_t, curandSetPseudoRandomGeneratorSeed)
__KM_LIBRARY(curandStatus_t, curandSetGeneratorOffset)
__KM_LIBRARY(curandStatus_t, curandSetGeneratorOrdering)
__KM_LIBRARY(curandStatus_t, curandSetQuasiRandomGeneratorDimensions)
__KM_LIBRARY(curandStatus_t, curandGenerate)
__KM_LIBRARY(curandStatus_t, curandGenerateLongLong)
__KM_LIBRARY(curandStatus_t, curandGenerateUniform)
__KM_LIBRARY(curandStatus_t, curandGenerateUniformDouble)
__KM_LIBRARY(curandStatus_t, curandGenerateNormal)
__KM_LIBRARY(curandStatus_t, curandGenerateNormalDouble)
__KM_LIBRARY(curandStatus_t, curandGenerateLogNormal)
__KM_LIBRARY(curandStatus_t, curandGenerateLogNormalDouble)
__KM_LIBRARY(curandStatus_t, curandGeneratePoisson)
__KM_LIBRARY(curandStatus_t, curandGenerateBinomial)
__KM_LIBRARY(curandStatus_t, curandGenerateSeeds)
__KM_LIBRARY(curandStatus_t, curandCreatePoissonDistribution)
__KM_LIBRARY(curandStatus_t, curandDestroyDistribution)
__KM_LIBRARY(curandStatus_t, curandGetDirectionVectors32)
__KM_LIBRARY(curandStatus_t, curandGetDirectionVectors64)
__KM_LIBRARY(curandStatus_t, curandGetScrambleConstants32)
__KM_LIBRARY(curandStatus_t, curandGetScrambleConstants64)
}
