// Functions of whole work-groups: every work-item calls them. Each sub-group combines its values, and
// the results of sub-groups lie in local memory.
#pragma once

#if __OPENCL_C_VERSION__ >= 200
// The compiler puts what is named so into local memory, of which OpenCL C has none outside of kernels.
static __global ulong __kernelmill_local_words[32];

__KM_F void work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
  __kernelmill_barrier();
}
#define __KM_WORDS(T, U)                                                                           \
  __KM_F void __km_put(uint place, T x) {                                                          \
    __kernelmill_local_words[place] = (ulong)__builtin_astype(x, U);                               \
  }                                                                                                \
  __KM_F T __km_get(uint place, T kind) {                                                          \
    return __builtin_astype((U)__kernelmill_local_words[place], T);                                \
  }                                                                                                \
  __KM_F T work_group_broadcast(T x, size_t a, size_t b, size_t c) {                               \
    __kernelmill_barrier();                                                                        \
    if (get_local_id(0) == a && get_local_id(1) == b && get_local_id(2) == c) __km_put(0, x);      \
    __kernelmill_barrier();                                                                        \
    return __km_get(0, x);                                                                         \
  }                                                                                                \
  __KM_F T work_group_broadcast(T x, size_t a, size_t b) {                                         \
    return work_group_broadcast(x, a, b, (size_t)0);                                               \
  }                                                                                                \
  __KM_F T work_group_broadcast(T x, size_t a) {                                                   \
    return work_group_broadcast(x, a, (size_t)0, (size_t)0);                                       \
  }
#define __KM_COMBINE(T, NAME, FIRST, COMBINED)                                                     \
  __KM_F T __km_groups_##NAME(T x, uint count) {                                                   \
    T total = sub_group_reduce_##NAME(x), a = FIRST;                                               \
    __kernelmill_barrier();                                                                        \
    if (get_sub_group_local_id() == 0) __km_put(get_sub_group_id(), total);                        \
    __kernelmill_barrier();                                                                        \
    for (uint group = 0; group < count; group++) {                                                 \
      T b = __km_get(group, x);                                                                    \
      a = COMBINED;                                                                                \
    }                                                                                              \
    return a;                                                                                      \
  }                                                                                                \
  __KM_F T work_group_reduce_##NAME(T x) {                                                         \
    return __km_groups_##NAME(x, get_num_sub_groups());                                            \
  }                                                                                                \
  __KM_F T work_group_scan_exclusive_##NAME(T x) {                                                 \
    T b = sub_group_scan_exclusive_##NAME(x), a = __km_groups_##NAME(x, get_sub_group_id());       \
    return COMBINED;                                                                               \
  }                                                                                                \
  __KM_F T work_group_scan_inclusive_##NAME(T x) {                                                 \
    T a = work_group_scan_exclusive_##NAME(x), b = x;                                              \
    return COMBINED;                                                                               \
  }
#define __KM_OF_TYPE(T, U, MIN, MAX)                                                               \
  __KM_WORDS(T, U) __KM_COMBINE(T, add, 0, a + b) __KM_COMBINE(T, min, MAX, b < a ? b : a)         \
  __KM_COMBINE(T, max, MIN, a < b ? b : a)
__KM_OF_TYPE(int, uint, INT_MIN, INT_MAX) __KM_OF_TYPE(uint, uint, 0, UINT_MAX)
__KM_OF_TYPE(long, ulong, LONG_MIN, LONG_MAX) __KM_OF_TYPE(ulong, ulong, 0, ULONG_MAX)
__KM_OF_TYPE(float, uint, -INFINITY, INFINITY)
__KM_OF_TYPE(double, ulong, -(double)INFINITY, (double)INFINITY)
#undef __KM_COMBINE
#undef __KM_OF_TYPE
#undef __KM_WORDS
__KM_F int work_group_any(int x) { return work_group_reduce_max(x != 0); }
__KM_F int work_group_all(int x) { return work_group_reduce_min(x != 0); }
#endif
