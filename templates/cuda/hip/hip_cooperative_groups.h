// Groups of threads: the grid, a block, and the tiles of 32 threads or fewer.
#pragma once
#include "../cooperative_groups.h"
