// In place of the toolkit's header: the collectives of blocks and warps, and the names of what code for the host calls.
#pragma once

#include "../kernelmill/cub_device.h"
#include "../kernelmill/cub_items.h"
