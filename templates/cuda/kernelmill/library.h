// What the headers of libraries have in common that only code for the host calls. Their functions are declared by their names
// alone: each takes any arguments. nvcc checks those of code that runs.
#pragma once

#define __KM_LIBRARY(RESULT, NAME) template <class... Arguments> RESULT NAME(const Arguments &...);
// A function for each type of numbers, as BLAS names them.
#define __KM_LIBRARY_SDCZ(RESULT, BEFORE, AFTER)                                                                                  \
  __KM_LIBRARY(RESULT, BEFORE##S##AFTER)                                                                                          \
  __KM_LIBRARY(RESULT, BEFORE##D##AFTER)                                                                                          \
  __KM_LIBRARY(RESULT, BEFORE##C##AFTER)                                                                                          \
  __KM_LIBRARY(RESULT, BEFORE##Z##AFTER)
