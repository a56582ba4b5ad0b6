// In place of the header of ROCm: what clang reads before every file in HIP has everything of it already.
#pragma once
#ifndef __HIP__
#error "HIP is compiled in files whose names end in .hip: rename this file"
#endif
// What ROCm's header brings along, and sources therefore use unasked.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
