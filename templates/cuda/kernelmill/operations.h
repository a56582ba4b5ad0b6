// Which thread this is, and waiting for others: each a function that the compiler supplies for
// every target, the same that kernels in Rust use.
#pragma once

extern "C" {
#define __KM_OPERATION __attribute__((host, device, nothrow))
__KM_OPERATION unsigned int __kernelmill_thread_idx_x(), __kernelmill_thread_idx_y(),
    __kernelmill_thread_idx_z();
__KM_OPERATION unsigned int __kernelmill_block_idx_x(), __kernelmill_block_idx_y(),
    __kernelmill_block_idx_z();
__KM_OPERATION unsigned int __kernelmill_block_dim_x(), __kernelmill_block_dim_y(),
    __kernelmill_block_dim_z();
__KM_OPERATION unsigned int __kernelmill_grid_dim_x(), __kernelmill_grid_dim_y(),
    __kernelmill_grid_dim_z();
__KM_OPERATION void __kernelmill_barrier();
__KM_OPERATION void __kernelmill_grid_barrier();
__KM_OPERATION void __kernelmill_warp_barrier(unsigned int mask);
__KM_OPERATION unsigned int __kernelmill_warp_shuffle(unsigned int, unsigned int, unsigned int);
__KM_OPERATION unsigned int __kernelmill_warp_shuffle_xor(unsigned int, unsigned int, unsigned int);
__KM_OPERATION unsigned int __kernelmill_warp_shuffle_up(unsigned int, unsigned int, unsigned int);
__KM_OPERATION unsigned int __kernelmill_warp_shuffle_down(unsigned int, unsigned int,
                                                           unsigned int);
__KM_OPERATION unsigned int __kernelmill_warp_ballot(unsigned int mask, unsigned int predicate);
__KM_OPERATION unsigned int __kernelmill_active_mask();
__KM_OPERATION unsigned int __kernelmill_warp_active_lanes();
__KM_OPERATION unsigned int __kernelmill_warp_active_ballot(unsigned int predicate);
__KM_OPERATION unsigned int __kernelmill_warp_active_shuffle(unsigned int, unsigned int);
__KM_OPERATION unsigned int __kernelmill_lane_id();
__KM_OPERATION void __kernelmill_fence_block();
__KM_OPERATION void __kernelmill_fence_device();
__KM_OPERATION unsigned int __kernelmill_dynamic_shared_bytes();
__KM_OPERATION float __kernelmill_rsqrt_f32(float);
__KM_OPERATION void __kernelmill_static_assert(bool condition, const char *text, __km_size length);
__KM_OPERATION float __kernelmill_f16_to_f32(unsigned short);
__KM_OPERATION unsigned short __kernelmill_f32_to_f16(float);
__KM_OPERATION unsigned short __kernelmill_f64_to_f16(double);
__KM_OPERATION unsigned short __kernelmill_fma_f16(unsigned short, unsigned short, unsigned short);
__KM_OPERATION int __kernelmill_printf(const char *, ...);
struct __kernelmill_location {
  const char *file;
  unsigned char numbers[16];
};
__KM_OPERATION __attribute__((noreturn)) void
__kernelmill_assert_failed(const char *, __km_size, const struct __kernelmill_location *);
}

#define __KM_INDEX(NAME, OPERATION)                                                                \
  struct __km_##OPERATION##_t {                                                                    \
    __declspec(property(get = get_x)) unsigned int x;                                              \
    __declspec(property(get = get_y)) unsigned int y;                                              \
    __declspec(property(get = get_z)) unsigned int z;                                              \
    static inline __KM_MEMBER unsigned int get_x() { return __kernelmill_##OPERATION##_x(); }      \
    static inline __KM_MEMBER unsigned int get_y() { return __kernelmill_##OPERATION##_y(); }      \
    static inline __KM_MEMBER unsigned int get_z() { return __kernelmill_##OPERATION##_z(); }      \
    inline __KM_MEMBER operator uint3() const { return uint3{get_x(), get_y(), get_z()}; }         \
    inline __KM_MEMBER operator dim3() const { return dim3(get_x(), get_y(), get_z()); }           \
  };                                                                                               \
  extern const __attribute__((device, weak)) __km_##OPERATION##_t NAME;
__KM_INDEX(threadIdx, thread_idx)
__KM_INDEX(blockIdx, block_idx)
__KM_INDEX(blockDim, block_dim)
__KM_INDEX(gridDim, grid_dim)
#undef __KM_INDEX

#ifndef __KM_WAVEFRONT
#define __KM_WAVEFRONT 32
#endif
constexpr int warpSize = __KM_WAVEFRONT;

// clang has a function of this name built in, for NVIDIA's processors alone.
#define __syncthreads() __kernelmill_barrier()
__KM_D void __barrier_sync(unsigned int) { __kernelmill_barrier(); }
__KM_D void __threadfence_block() { __kernelmill_fence_block(); }
__KM_D void __threadfence() { __kernelmill_fence_device(); }
__KM_D void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
__KM_D void __nanosleep(unsigned int) {}
__KM_D long long clock64() { return (long long)__builtin_readcyclecounter(); }
__KM_D int clock() { return (int)__builtin_readcyclecounter(); }

// Every thread writes the same zero, so that it does not matter which ones have returned.
__KM_D int __syncthreads_count(int predicate) {
  static __shared__ int count;
  __kernelmill_barrier();
  *(volatile int *)&count = 0;
  __kernelmill_barrier();
  if (predicate) __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  __kernelmill_barrier();
  return *(volatile int *)&count;
}
__KM_D int __syncthreads_or(int predicate) { return __syncthreads_count(predicate) != 0; }
__KM_D int __syncthreads_and(int predicate) { return __syncthreads_count(!predicate) == 0; }
