// Operations among the threads of a wavefront that are active. It has 64 lanes on AMD's processors before the tenth
// generation, and 32 on all others, on NVIDIA's, and on the CPU: the size is `warpSize`, and masks have 64 bits.
#pragma once

typedef unsigned long long __km_lanes;

#if __KM_WAVEFRONT == 64
#define __KM_ALL_LANES 0xffffffffffffffffull
__KM_D unsigned int __lane_id() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
__KM_D __km_lanes __ballot(int predicate) { return __builtin_amdgcn_ballot_w64(predicate != 0); }
__KM_D __km_lanes __km_active_lanes() { return __builtin_amdgcn_ballot_w64(true); }
__KM_D unsigned int __km_from_lane(unsigned int value, int lane) {
  return (unsigned int)__builtin_amdgcn_ds_bpermute(lane << 2, (int)value);
}
#else
#define __KM_ALL_LANES 0xffffffffull
__KM_D unsigned int __lane_id() { return __kernelmill_lane_id(); }
__KM_D __km_lanes __ballot(int predicate) {
  return __kernelmill_warp_active_ballot(predicate != 0);
}
__KM_D __km_lanes __km_active_lanes() { return __kernelmill_warp_active_lanes(); }
__KM_D unsigned int __km_from_lane(unsigned int value, int lane) {
  return __kernelmill_warp_active_shuffle(value, (unsigned int)lane);
}
#endif
#define __activemask() __km_active_lanes()

// AMD's own headers refuse a mask of 32 bits too: of 64 lanes it means half.
#if defined(__HIP_PLATFORM_AMD__)
#define __KM_NARROW                                                                                \
  __attribute__((unavailable("its mask has to have 64 bits on AMD's processors, whose wavefronts " \
                             "have up to 64 lanes: write 0xffffffffffffffffull for all of them, "  \
                             "or `unsigned long long` for the mask's type")))
template <class Mask> struct __km_is_narrow { static const bool value = sizeof(Mask) != 8; };
template <> struct __km_is_narrow<__km_mask> { static const bool value = false; };
#define __KM_REFUSE(NAME)                                                                          \
  template <class Mask, class... T>                                                                \
  __KM_D __KM_NARROW typename __km_enable<__km_is_narrow<Mask>::value, int>::type NAME(Mask, T...);
__KM_REFUSE(__syncwarp) __KM_REFUSE(__ballot_sync) __KM_REFUSE(__any_sync) __KM_REFUSE(__all_sync)
__KM_REFUSE(__shfl_sync) __KM_REFUSE(__shfl_xor_sync) __KM_REFUSE(__shfl_up_sync)
__KM_REFUSE(__shfl_down_sync) __KM_REFUSE(__match_any_sync) __KM_REFUSE(__match_all_sync)
__KM_REFUSE(__reduce_add_sync) __KM_REFUSE(__reduce_min_sync) __KM_REFUSE(__reduce_max_sync)
__KM_REFUSE(__reduce_and_sync) __KM_REFUSE(__reduce_or_sync) __KM_REFUSE(__reduce_xor_sync)
#undef __KM_REFUSE
#undef __KM_NARROW
#endif

__KM_D int __any(int predicate) { return __ballot(predicate) != 0; }
__KM_D int __all(int predicate) { return __ballot(!predicate) == 0; }
__KM_D __km_lanes __lanemask_lt() { return ((__km_lanes)1 << __lane_id()) - 1; }

// The lane that a thread reads from: in its own part of `width` lanes, a power of two, or its own.
__KM_D int __km_lane_to(int own, int lane, int width) {
  return (lane & (width - 1)) + (own & ~(width - 1));
}
__KM_D int __km_lane_by_xor(int own, int bits, int width) {
  int lane = own ^ bits;
  return lane >= ((own + width) & ~(width - 1)) ? own : lane;
}
__KM_D int __km_lane_up(int own, unsigned int delta, int width) {
  int lane = own - (int)delta;
  return lane < (own & ~(width - 1)) ? own : lane;
}
__KM_D int __km_lane_down(int own, unsigned int delta, int width) {
  return (own & (width - 1)) + (int)delta >= width ? own : own + (int)delta;
}

template <class T> __KM_D T __km_value_from(T value, int lane) {
  typedef typename __km_bits<sizeof(T)>::type Bits;
  Bits bits = __builtin_bit_cast(Bits, value);
  unsigned int low = __km_from_lane((unsigned int)bits, lane);
  if (sizeof(T) <= 4) return __builtin_bit_cast(T, (Bits)low);
  unsigned int high = __km_from_lane((unsigned int)((unsigned long long)bits >> 32), lane);
  return __builtin_bit_cast(T, (Bits)((unsigned long long)high << 32 | low));
}
// With a mask of 64 bits the lanes in it must be those that are active, which HIP requires.
#define __KM_SHUFFLE(NAME, HOW, ARGUMENT)                                                          \
  template <class T> __KM_D T NAME(T value, ARGUMENT argument, int width = warpSize) {             \
    return __km_value_from(value, HOW((int)__lane_id(), argument, width));                         \
  }                                                                                                \
  template <class Mask, class T>                                                                   \
  __KM_D typename __km_enable<sizeof(Mask) == 8, T>::type NAME##_sync(                             \
      Mask, T value, ARGUMENT argument, int width = warpSize) {                                    \
    return NAME(value, argument, width);                                                           \
  }
__KM_SHUFFLE(__shfl, __km_lane_to, int)
__KM_SHUFFLE(__shfl_xor, __km_lane_by_xor, int)
__KM_SHUFFLE(__shfl_up, __km_lane_up, unsigned int)
__KM_SHUFFLE(__shfl_down, __km_lane_down, unsigned int)
#undef __KM_SHUFFLE

#define __KM_OF_MASK(RESULT, NAME, EXPRESSION)                                                     \
  template <class Mask>                                                                            \
  __KM_D typename __km_enable<sizeof(Mask) == 8, RESULT>::type NAME(Mask mask, int predicate) {    \
    return EXPRESSION;                                                                             \
  }
__KM_OF_MASK(__km_lanes, __ballot_sync, __ballot(predicate) & mask)
__KM_OF_MASK(int, __any_sync, (__ballot(predicate) & mask) != 0)
__KM_OF_MASK(int, __all_sync, (__ballot(!predicate) & mask) == 0)
#undef __KM_OF_MASK
template <class Mask> __KM_D typename __km_enable<sizeof(Mask) == 8>::type __syncwarp(Mask mask) {
  __kernelmill_warp_barrier((unsigned int)mask);
}

// The lanes whose value is the same. All threads make the same number of iterations, as SPIR-V's shuffles need.
template <class T> __KM_D __km_lanes __match_any(T value) {
  typedef typename __km_bits<sizeof(T)>::type Bits;
  Bits own = __builtin_bit_cast(Bits, value);
  __km_lanes active = __km_active_lanes(), equal = 0;
  for (int lane = 0; lane < warpSize; lane++) {
    bool takes_part = active >> lane & 1;
    Bits other = __km_value_from(own, takes_part ? lane : (int)__lane_id());
    if (takes_part && other == own) equal |= (__km_lanes)1 << lane;
  }
  return equal;
}
template <class T> __KM_D __km_lanes __match_all(T value, int *predicate) {
  __km_lanes active = __km_active_lanes();
  *predicate = __all(__match_any(value) == active);
  return *predicate ? active : 0;
}
// Of the lanes in a mask alone: groups of active lanes may have masks of their own.
template <class Mask, class T>
__KM_D typename __km_enable<sizeof(Mask) == 8, __km_lanes>::type __match_any_sync(Mask mask, T value) {
  return __match_any(value) & mask;
}
template <class Mask, class T>
__KM_D typename __km_enable<sizeof(Mask) == 8, __km_lanes>::type __match_all_sync(Mask mask, T value, int *predicate) {
  __km_lanes lanes = mask & __KM_ALL_LANES;
  *predicate = __match_any_sync(mask, value) == lanes;
  return *predicate ? lanes : 0;
}

// What `combine` makes of the values of the lanes in a mask, in their order: all of them have the same rounding.
template <class T, class Combine> __KM_D T __km_reduce_lanes(__km_lanes mask, T value, Combine combine) {
  T result = value;
  bool is_first = true;
  for (int lane = 0; lane < warpSize; lane++) {
    bool takes_part = mask >> lane & 1;
    T other = __km_value_from(value, takes_part ? lane : (int)__lane_id());
    if (takes_part) result = is_first ? other : combine(result, other);
    if (takes_part) is_first = false;
  }
  return result;
}
#define __KM_REDUCE(NAME, EXPRESSION)                                                              \
  template <class Mask, class T>                                                                   \
  __KM_D typename __km_enable<sizeof(Mask) == 8, T>::type NAME(Mask mask, T value) {               \
    return __km_reduce_lanes(mask, value, [] __device__(T a, T b) { return (T)(EXPRESSION); });    \
  }
__KM_REDUCE(__reduce_add_sync, a + b)
__KM_REDUCE(__reduce_min_sync, a < b ? a : b)
__KM_REDUCE(__reduce_max_sync, a > b ? a : b)
__KM_REDUCE(__reduce_and_sync, a &b)
__KM_REDUCE(__reduce_or_sync, a | b)
__KM_REDUCE(__reduce_xor_sync, a ^ b)
#undef __KM_REDUCE
