// The header as it was called before version 3.
#pragma once

#include "nvtx3/nvToolsExt.h"
