// Half precision, of which HIP has CUDA's names.
#pragma once
#include "../cuda_fp16.h"
