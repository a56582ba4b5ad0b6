// What every source in OpenCL C starts with: the built-in functions, over what the compiler supplies
// for every target. clang declares those that are not here, and their use is reported.
#pragma once

#define __KERNELMILL__ 1
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#include "lanes.h"
#include "operations.h"
#include "integer.h"
#include "math.h"
#include "common.h"
#include "relational.h"
#include "conversions.h"
#include "memory.h"
#include "atomics.h"
#include "subgroups.h"
#include "workgroups.h"

#undef printf
#pragma OPENCL EXTENSION __cl_clang_variadic_functions : enable
int __kernelmill_printf(__constant const char *format, ...);
#pragma OPENCL EXTENSION __cl_clang_variadic_functions : disable
#define printf __kernelmill_printf
