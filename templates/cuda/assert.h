// assert(), which may be included again with another NDEBUG. On the device a failed assertion is a
// panic of its thread, with the text, the file and the line.
#undef assert
#if defined(NDEBUG)
#define assert(condition) ((void)0)
#elif defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define assert(...) ((__VA_ARGS__) ? (void)0 : [] __device__ { __KM_FAIL("assertion failed: " #__VA_ARGS__); }())
#else
extern "C" __attribute__((host, noreturn)) void __assert_fail(const char *, const char *, unsigned int,
                                                   const char *) noexcept(true);
#define assert(...)                                                                                \
  ((__VA_ARGS__) ? (void)0 : __assert_fail(#__VA_ARGS__, __FILE__, __LINE__, __func__))
#endif
#ifndef __cplusplus
#define static_assert _Static_assert
#endif
