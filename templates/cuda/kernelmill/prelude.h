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
#include "rounding.h"
#include "atomics.h"
#include "warp.h"
#include "memory.h"
#include "print.h"
#include "derivative.h"
#include "function.h"

// What nvcc's own prelude brings along, and sources therefore use unasked. They come last: C++'s
// headers pass the functions above on to `std`.
#include <assert.h>
#include <limits.h>
#include <stddef.h>
#if __has_include(<cmath>)
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>
#endif
