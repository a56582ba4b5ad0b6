// Derivatives of device functions, which the plugin kernelmill-autodiff writes:
//
//   __kernelmill_autodiff(float, slope, f, reverse, (active, constant), float, float, float)
//
// declares `float slope(float, float, float)`, the derivative of `f` in a mode, with an activity for
// each parameter of `f`; the types behind them are those of the derivative's own parameters, numbers
// and addresses. Several numbers are a struct of them.
#pragma once

#define __KM_NINTH(a, b, c, d, e, f, g, h, n, ...) n
#define __KM_COUNT(...) __KM_NINTH(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define __KM_JOINED(a, b) a##b
#define __KM_JOIN(a, b) __KM_JOINED(a, b)
// One of the macros below for each of the arguments.
#define __KM_EACH(macro, ...) __KM_JOIN(macro, __KM_COUNT(__VA_ARGS__))(__VA_ARGS__)

#define __KM_SIZED_1(t) __km_size, t
#define __KM_SIZED_2(t, ...) __km_size, t, __KM_SIZED_1(__VA_ARGS__)
#define __KM_SIZED_3(t, ...) __km_size, t, __KM_SIZED_2(__VA_ARGS__)
#define __KM_SIZED_4(t, ...) __km_size, t, __KM_SIZED_3(__VA_ARGS__)
#define __KM_SIZED_5(t, ...) __km_size, t, __KM_SIZED_4(__VA_ARGS__)
#define __KM_SIZED_6(t, ...) __km_size, t, __KM_SIZED_5(__VA_ARGS__)
#define __KM_SIZED_7(t, ...) __km_size, t, __KM_SIZED_6(__VA_ARGS__)
#define __KM_SIZED_8(t, ...) __km_size, t, __KM_SIZED_7(__VA_ARGS__)

#define __KM_TAKEN_1(t) t __km_1
#define __KM_TAKEN_2(t, ...) t __km_2, __KM_TAKEN_1(__VA_ARGS__)
#define __KM_TAKEN_3(t, ...) t __km_3, __KM_TAKEN_2(__VA_ARGS__)
#define __KM_TAKEN_4(t, ...) t __km_4, __KM_TAKEN_3(__VA_ARGS__)
#define __KM_TAKEN_5(t, ...) t __km_5, __KM_TAKEN_4(__VA_ARGS__)
#define __KM_TAKEN_6(t, ...) t __km_6, __KM_TAKEN_5(__VA_ARGS__)
#define __KM_TAKEN_7(t, ...) t __km_7, __KM_TAKEN_6(__VA_ARGS__)
#define __KM_TAKEN_8(t, ...) t __km_8, __KM_TAKEN_7(__VA_ARGS__)

#define __KM_PASSED_1(t) sizeof(t), __km_1
#define __KM_PASSED_2(t, ...) sizeof(t), __km_2, __KM_PASSED_1(__VA_ARGS__)
#define __KM_PASSED_3(t, ...) sizeof(t), __km_3, __KM_PASSED_2(__VA_ARGS__)
#define __KM_PASSED_4(t, ...) sizeof(t), __km_4, __KM_PASSED_3(__VA_ARGS__)
#define __KM_PASSED_5(t, ...) sizeof(t), __km_5, __KM_PASSED_4(__VA_ARGS__)
#define __KM_PASSED_6(t, ...) sizeof(t), __km_6, __KM_PASSED_5(__VA_ARGS__)
#define __KM_PASSED_7(t, ...) sizeof(t), __km_7, __KM_PASSED_6(__VA_ARGS__)
#define __KM_PASSED_8(t, ...) sizeof(t), __km_8, __KM_PASSED_7(__VA_ARGS__)

#define __KM_ACTIVITY_1(t) #t "_"
#define __KM_ACTIVITY_2(t, ...) #t "_" __KM_ACTIVITY_1(__VA_ARGS__)
#define __KM_ACTIVITY_3(t, ...) #t "_" __KM_ACTIVITY_2(__VA_ARGS__)
#define __KM_ACTIVITY_4(t, ...) #t "_" __KM_ACTIVITY_3(__VA_ARGS__)
#define __KM_ACTIVITY_5(t, ...) #t "_" __KM_ACTIVITY_4(__VA_ARGS__)
#define __KM_ACTIVITY_6(t, ...) #t "_" __KM_ACTIVITY_5(__VA_ARGS__)
#define __KM_ACTIVITY_7(t, ...) #t "_" __KM_ACTIVITY_6(__VA_ARGS__)
#define __KM_ACTIVITY_8(t, ...) #t "_" __KM_ACTIVITY_7(__VA_ARGS__)
#define __KM_ACTIVITIES(...) __KM_EACH(__KM_ACTIVITY_, __VA_ARGS__)

#define __kernelmill_autodiff(result, name, function, mode, activities, ...)                        \
  extern "C" __device__ result __kernelmill_derivative_##name(                                      \
      decltype(&function), __KM_EACH(__KM_SIZED_, __VA_ARGS__))                                     \
      __asm__("__kernelmill_autodiff." #name "." #mode "." __KM_ACTIVITIES activities);             \
  __KM_D result name(__KM_EACH(__KM_TAKEN_, __VA_ARGS__)) {                                         \
    return __kernelmill_derivative_##name(&function, __KM_EACH(__KM_PASSED_, __VA_ARGS__));         \
  }
