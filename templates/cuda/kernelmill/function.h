// Device functions passed to kernels: `DeviceFn<float(float)>` is 8 bytes that name one, in
// Rust `DeviceFn<fn(f32) -> f32>`; and functions that the host can give:
//
//   KERNELMILL_DEVICE_FN(float, square, float x) { return x * x; }
#pragma once

extern "C" __attribute__((device, nothrow)) void *__kernelmill_function(__km_u64);
extern "C" __attribute__((device, nothrow)) bool __kernelmill_is_function(void *);

#define __KM_NO_FUNCTION "a `DeviceFn` was called that is not a device function of these kernels"

namespace kernelmill {

template <class Type> struct DeviceFn;

template <class Result, class... Parameters> struct DeviceFn<Result(Parameters...)> {
  __km_u64 __km_id;

  // Calls the function; where it is not a device function of these kernels, the thread panics. `at` is the place of
  // the call, which the compiler fills in.
  __attribute__((device, always_inline)) Result
  operator()(Parameters... parameters, const __kernelmill_location *__km_at = nullptr) const {
    void *function = __kernelmill_function(__km_id);
    if (!__kernelmill_is_function(function))
      __kernelmill_assert_failed(__KM_NO_FUNCTION, sizeof(__KM_NO_FUNCTION) - 1, __km_at);
    return ((Result(*)(Parameters...))function)(parameters...);
  }
};

} // namespace kernelmill

#define KERNELMILL_DEVICE_FN(result, name, ...)                                                     \
  __device__ result name(__VA_ARGS__) __asm__("__kernelmill_exported_" #name);                      \
  __device__ result name(__VA_ARGS__)
