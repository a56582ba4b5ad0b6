// Sub-groups: warps, which have 32 lanes on every target, fewer where a work-group ends.
#pragma once

uint __kernelmill_lane_id(void);
void __kernelmill_warp_barrier(uint mask);
uint __kernelmill_warp_shuffle(uint mask, uint value, uint lane);
uint __kernelmill_warp_ballot(uint mask, uint predicate);

__KM_F uint __km_group_size(void) {
  return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
}
__KM_F uint get_max_sub_group_size(void) { return 32; }
__KM_F uint get_num_sub_groups(void) { return (__km_group_size() + 31) / 32; }
__KM_F uint get_enqueued_num_sub_groups(void) { return get_num_sub_groups(); }
__KM_F uint get_sub_group_id(void) { return (uint)get_local_linear_id() / 32; }
__KM_F uint get_sub_group_local_id(void) { return __kernelmill_lane_id(); }
__KM_F uint get_sub_group_size(void) {
  uint rest = __km_group_size() - get_sub_group_id() * 32;
  return rest < 32 ? rest : 32;
}
__KM_F uint __km_lanes(void) {
  uint size = get_sub_group_size();
  return size == 32 ? 0xffffffffu : (1u << size) - 1;
}
__KM_F void sub_group_barrier(cl_mem_fence_flags flags) { __kernelmill_warp_barrier(__km_lanes()); }
__KM_F int sub_group_any(int x) { return __kernelmill_warp_ballot(__km_lanes(), x != 0) != 0; }
__KM_F int sub_group_all(int x) { return __kernelmill_warp_ballot(__km_lanes(), x == 0) == 0; }

#define __KM_SHUFFLE_32(T)                                                                         \
  __KM_F T __km_shuffle(T x, uint lane) {                                                          \
    return __builtin_astype(                                                                       \
        __kernelmill_warp_shuffle(__km_lanes(), __builtin_astype(x, uint), lane), T);              \
  }
#define __KM_SHUFFLE_64(T)                                                                         \
  __KM_F T __km_shuffle(T x, uint lane) {                                                          \
    uint2 words = __builtin_astype(x, uint2);                                                      \
    words.s0 = __kernelmill_warp_shuffle(__km_lanes(), words.s0, lane);                            \
    words.s1 = __kernelmill_warp_shuffle(__km_lanes(), words.s1, lane);                            \
    return __builtin_astype(words, T);                                                             \
  }
__KM_SHUFFLE_32(int) __KM_SHUFFLE_32(uint) __KM_SHUFFLE_32(float)
__KM_SHUFFLE_64(long) __KM_SHUFFLE_64(ulong) __KM_SHUFFLE_64(double)
#undef __KM_SHUFFLE_32
#undef __KM_SHUFFLE_64

// Every lane reads all values, in the order of the lanes, so that all of them get the same bits.
#define __KM_REDUCE(T, NAME, FIRST, COMBINED)                                                      \
  __KM_F T sub_group_reduce_##NAME(T x) {                                                          \
    T a = __km_shuffle(x, 0);                                                                      \
    for (uint lane = 1; lane < get_sub_group_size(); lane++) {                                     \
      T b = __km_shuffle(x, lane);                                                                 \
      a = COMBINED;                                                                                \
    }                                                                                              \
    return a;                                                                                      \
  }                                                                                                \
  __KM_F T sub_group_scan_exclusive_##NAME(T x) {                                                  \
    T a = FIRST;                                                                                   \
    for (uint lane = 0; lane < get_sub_group_size(); lane++) {                                     \
      T b = __km_shuffle(x, lane);                                                                 \
      if (lane < get_sub_group_local_id()) a = COMBINED;                                           \
    }                                                                                              \
    return a;                                                                                      \
  }                                                                                                \
  __KM_F T sub_group_scan_inclusive_##NAME(T x) {                                                  \
    T a = sub_group_scan_exclusive_##NAME(x), b = x;                                               \
    return COMBINED;                                                                               \
  }
#define __KM_OF_TYPE(T, MIN, MAX)                                                                  \
  __KM_F T sub_group_broadcast(T x, uint lane) { return __km_shuffle(x, lane); }                   \
  __KM_F T sub_group_shuffle(T x, uint lane) { return __km_shuffle(x, lane); }                     \
  __KM_F T sub_group_shuffle_xor(T x, uint mask) {                                                 \
    return __km_shuffle(x, get_sub_group_local_id() ^ mask);                                       \
  }                                                                                                \
  __KM_REDUCE(T, add, 0, a + b) __KM_REDUCE(T, min, MAX, b < a ? b : a)                            \
  __KM_REDUCE(T, max, MIN, a < b ? b : a)
__KM_OF_TYPE(int, INT_MIN, INT_MAX) __KM_OF_TYPE(uint, 0, UINT_MAX)
__KM_OF_TYPE(long, LONG_MIN, LONG_MAX) __KM_OF_TYPE(ulong, 0, ULONG_MAX)
__KM_OF_TYPE(float, -INFINITY, INFINITY) __KM_OF_TYPE(double, -(double)INFINITY, (double)INFINITY)
#undef __KM_OF_TYPE
#undef __KM_REDUCE
