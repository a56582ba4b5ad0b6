// Brain floating point by the name that HIP had for it first.
#pragma once
#include "hip_bf16.h"
typedef __nv_bfloat16 hip_bfloat16;
