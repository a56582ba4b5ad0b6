// Sub-groups: warps, which have 32 lanes on every target, fewer where a work-group ends.
#pragma once

uint __kernelmill_lane_id(void);
void __kernelmill_warp_barrier(uint mask);
uint __kernelmill_warp_shuffle(uint mask, uint value, uint lane);
uint __kernelmill_warp_shuffle_up(uint mask, uint value, uint by);
uint __kernelmill_warp_shuffle_down(uint mask, uint value, uint by);
uint __kernelmill_warp_shuffle_xor(uint mask, uint value, uint by);
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
// Work-items that are not there take no part.
#define __KM_LANES 0xffffffffu
__KM_F void sub_group_barrier(cl_mem_fence_flags flags) { __kernelmill_warp_barrier(__KM_LANES); }
__KM_F int sub_group_any(int x) { return __kernelmill_warp_ballot(__KM_LANES, x != 0) != 0; }
__KM_F int sub_group_all(int x) { return __kernelmill_warp_ballot(__KM_LANES, x == 0) == 0; }

// Votes of all lanes, of which a sub-group's are the first bits.
__KM_F uint4 __km_lanes(uint bits) { return (uint4)(bits, 0, 0, 0); }
__KM_F uint __km_below(void) { return (1u << get_sub_group_local_id()) - 1; }
__KM_F uint __km_all(void) { return __KM_LANES >> (32 - get_sub_group_size()); }
__KM_F uint4 get_sub_group_eq_mask(void) { return __km_lanes(1u << get_sub_group_local_id()); }
__KM_F uint4 get_sub_group_lt_mask(void) { return __km_lanes(__km_below()); }
__KM_F uint4 get_sub_group_le_mask(void) {
  return __km_lanes(__km_below() | 1u << get_sub_group_local_id());
}
__KM_F uint4 get_sub_group_ge_mask(void) { return __km_lanes(__km_all() & ~__km_below()); }
__KM_F uint4 get_sub_group_gt_mask(void) {
  return __km_lanes(__km_all() & ~__km_below() & ~(1u << get_sub_group_local_id()));
}
__KM_F uint4 sub_group_ballot(int x) {
  return __km_lanes(__kernelmill_warp_ballot(__KM_LANES, x != 0));
}
__KM_F int sub_group_inverse_ballot(uint4 votes) {
  return votes.x >> get_sub_group_local_id() & 1;
}
__KM_F int sub_group_ballot_bit_extract(uint4 votes, uint lane) {
  return lane < 32 ? votes.x >> lane & 1 : 0;
}
__KM_F uint sub_group_ballot_bit_count(uint4 votes) {
  return __builtin_popcount(votes.x & __km_all());
}
__KM_F uint sub_group_ballot_inclusive_scan(uint4 votes) {
  return __builtin_popcount(votes.x & get_sub_group_le_mask().x);
}
__KM_F uint sub_group_ballot_exclusive_scan(uint4 votes) {
  return __builtin_popcount(votes.x & __km_below());
}
__KM_F uint sub_group_ballot_find_lsb(uint4 votes) { return __builtin_ctz(votes.x); }
__KM_F uint sub_group_ballot_find_msb(uint4 votes) {
  return 31 - __builtin_clz(votes.x & __km_all());
}
__KM_F int sub_group_elect(void) { return get_sub_group_local_id() == 0; }
__KM_F int sub_group_non_uniform_any(int x) { return sub_group_any(x); }
__KM_F int sub_group_non_uniform_all(int x) { return sub_group_all(x); }

#define __KM_SHUFFLE_32(T, NAME)                                                                   \
  __KM_F T __km_##NAME(T x, uint by) {                                                             \
    return __builtin_astype(                                                                       \
        __kernelmill_warp_##NAME(__KM_LANES, __builtin_astype(x, uint), by), T);                   \
  }
#define __KM_SHUFFLE_64(T, NAME)                                                                   \
  __KM_F T __km_##NAME(T x, uint by) {                                                             \
    uint2 words = __builtin_astype(x, uint2);                                                      \
    words.s0 = __kernelmill_warp_##NAME(__KM_LANES, words.s0, by);                                 \
    words.s1 = __kernelmill_warp_##NAME(__KM_LANES, words.s1, by);                                 \
    return __builtin_astype(words, T);                                                             \
  }
#define __KM_SHUFFLES(NAME)                                                                        \
  __KM_SHUFFLE_32(int, NAME) __KM_SHUFFLE_32(uint, NAME) __KM_SHUFFLE_32(float, NAME)              \
  __KM_SHUFFLE_64(long, NAME) __KM_SHUFFLE_64(ulong, NAME) __KM_SHUFFLE_64(double, NAME)
__KM_SHUFFLES(shuffle) __KM_SHUFFLES(shuffle_up) __KM_SHUFFLES(shuffle_down)
__KM_SHUFFLES(shuffle_xor)
#undef __KM_SHUFFLES
#undef __KM_SHUFFLE_32
#undef __KM_SHUFFLE_64

// Prefix sums in five steps, which read lanes below alone, so that a sub-group may lack its last lanes.
// The last one has the sum of all, whose bits all lanes get.
#define __KM_REDUCE(T, NAME, FIRST, COMBINED)                                                      \
  __KM_F T sub_group_scan_inclusive_##NAME(T b) {                                                  \
    for (uint step = 1; step < 32; step *= 2) {                                                    \
      T a = __km_shuffle_up(b, step);                                                              \
      b = get_sub_group_local_id() >= step ? COMBINED : b;                                         \
    }                                                                                              \
    return b;                                                                                      \
  }                                                                                                \
  __KM_F T sub_group_scan_exclusive_##NAME(T x) {                                                  \
    T sum = __km_shuffle_up(sub_group_scan_inclusive_##NAME(x), 1);                                \
    return get_sub_group_local_id() == 0 ? FIRST : sum;                                            \
  }                                                                                                \
  __KM_F T sub_group_reduce_##NAME(T x) {                                                          \
    return __km_shuffle(sub_group_scan_inclusive_##NAME(x), get_sub_group_size() - 1);             \
  }
#define __KM_OF_TYPE(T, MIN, MAX)                                                                  \
  __KM_F T sub_group_broadcast(T x, uint lane) { return __km_shuffle(x, lane); }                   \
  __KM_F T sub_group_non_uniform_broadcast(T x, uint lane) { return __km_shuffle(x, lane); }       \
  __KM_F T sub_group_broadcast_first(T x) { return __km_shuffle(x, 0); }                           \
  __KM_F T sub_group_shuffle(T x, uint lane) { return __km_shuffle(x, lane); }                     \
  __KM_F T sub_group_shuffle_xor(T x, uint mask) { return __km_shuffle_xor(x, mask); }             \
  __KM_F T sub_group_shuffle_up(T x, uint by) { return __km_shuffle_up(x, by); }                   \
  __KM_F T sub_group_shuffle_down(T x, uint by) { return __km_shuffle_down(x, by); }               \
  __KM_REDUCE(T, add, 0, a + b) __KM_REDUCE(T, min, MAX, b < a ? b : a)                            \
  __KM_REDUCE(T, max, MIN, a < b ? b : a)
__KM_OF_TYPE(int, INT_MIN, INT_MAX) __KM_OF_TYPE(uint, 0, UINT_MAX)
__KM_OF_TYPE(long, LONG_MIN, LONG_MAX) __KM_OF_TYPE(ulong, 0, ULONG_MAX)
__KM_OF_TYPE(float, -INFINITY, INFINITY) __KM_OF_TYPE(double, -(double)INFINITY, (double)INFINITY)
#undef __KM_OF_TYPE
#undef __KM_REDUCE
