// printf, assert, kernelmill_static_assert and __trap.
#pragma once

// A condition that must be proven while the kernel is optimised, with a text to say where it is not.
#if defined(__CUDA_ARCH__)
#define kernelmill_static_assert(condition, ...)                                                   \
  __kernelmill_static_assert((condition), #condition __VA_OPT__(": ") __VA_ARGS__,                 \
                             sizeof(#condition __VA_OPT__(": ") __VA_ARGS__) - 1)
#else
#define kernelmill_static_assert(condition, ...) ((void)(condition))
#endif

template <class... Arguments>
__KM_D int printf(const char *format, Arguments... arguments) {
  return __kernelmill_printf(format, arguments...);
}

#define __KM_LINE(at)                                                                              \
  (unsigned char)(__LINE__ >> (8 * at))
// The file's name has the length without the zero at its end.
#define __KM_LENGTH(at) (unsigned char)((sizeof(__FILE__) - 1) >> (8 * at))
#define __KM_FAIL(text)                                                                            \
  do {                                                                                             \
    static const __kernelmill_location __km_here = {                                               \
        __FILE__,                                                                                  \
        {__KM_LENGTH(0), __KM_LENGTH(1), __KM_LENGTH(2), __KM_LENGTH(3), 0, 0, 0, 0, __KM_LINE(0), \
         __KM_LINE(1), __KM_LINE(2), __KM_LINE(3), 1, 0, 0, 0}};                                   \
    __kernelmill_assert_failed(text, sizeof(text) - 1, &__km_here);                                \
  } while (0)
#if defined(__CUDA_ARCH__)
#define __trap() [] __device__ { __KM_FAIL("__trap() was called"); }()
#else
#define __trap() __builtin_trap()
#endif
__KM_D void __brkpt() {}
