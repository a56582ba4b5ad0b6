// What clang reads before every file in CUDA C++: the language's own names, in terms of the
// operations that kernelmill's compiler supplies for each target. It takes the place of the
// toolkit's headers.
#pragma once

#include "qualifiers.h"
#include "vector_types.h"
#include "operations.h"
#include "host.h"
#include "bits.h"
#include "math.h"
#include "conversions.h"
#include "atomics.h"
#include "warp.h"
#include "memory.h"
#include "print.h"
