// A part of CUB, which is there as a whole.
#pragma once
#include "../cub.cuh"
