// In place of the toolkit's header: the collectives of blocks and warps, and the names of what code for the host calls.
#pragma once

// Types whose numbers it knows, and which programs use unasked.
#include "../cuda_bf16.h"
#include "../cuda_fp16.h"
#include "../kernelmill/cub_device.h"
#include "../kernelmill/cub_items.h"
