// Operations among the 32 threads of a warp.
#pragma once

// A mask of 32 lanes. In HIP on AMD's processors masks have 64 bits, and a number of 32 is no mask: only kernelmill's own
// headers make one of it, for their warps of 32 lanes.
#if defined(__HIP_PLATFORM_AMD__)
struct __km_mask {
  unsigned int lanes;
  explicit __KM_MEMBER __km_mask(unsigned int lanes) : lanes(lanes) {}
  __KM_MEMBER operator unsigned int() const { return lanes; }
};
#else
typedef unsigned int __km_mask;
#endif

__KM_D void __syncwarp(__km_mask mask = __km_mask(0xffffffffu)) { __kernelmill_warp_barrier(mask); }
__KM_D unsigned int __activemask() { return __kernelmill_active_mask(); }
__KM_D unsigned int __ballot_sync(__km_mask mask, int predicate) {
  return __kernelmill_warp_ballot(mask, predicate != 0);
}
__KM_D int __any_sync(__km_mask mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
// Lanes that have returned, or never were, vote for neither.
__KM_D int __all_sync(__km_mask mask, int predicate) {
  return __ballot_sync(mask, !predicate) == 0;
}
__KM_D int __uni_sync(__km_mask mask, int predicate) {
  unsigned int yes = __ballot_sync(mask, predicate), no = __ballot_sync(mask, !predicate);
  return yes == 0 || no == 0;
}

// Where a warp is cut into parts of `width` lanes, a power of two, lanes are numbered in their part.
struct __km_shuffle {
  static inline __KM_MEMBER unsigned int to(unsigned int mask, unsigned int value, unsigned int lane, int width) {
    if (width == 32) return __kernelmill_warp_shuffle(mask, value, lane & 31);
    unsigned int part = __kernelmill_lane_id() & ~(unsigned int)(width - 1);
    return __kernelmill_warp_shuffle(mask, value, part | (lane & (width - 1)));
  }
  static inline __KM_MEMBER unsigned int by_xor(unsigned int mask, unsigned int value, unsigned int bits, int width) {
    if (width == 32) return __kernelmill_warp_shuffle_xor(mask, value, bits);
    unsigned int own = __kernelmill_lane_id(), lane = own ^ bits;
    unsigned int last = own | (unsigned int)(width - 1);
    return __kernelmill_warp_shuffle(mask, value, lane > last ? own : lane);
  }
  static inline __KM_MEMBER unsigned int up(unsigned int mask, unsigned int value, unsigned int delta, int width) {
    if (width == 32) return __kernelmill_warp_shuffle_up(mask, value, delta);
    unsigned int own = __kernelmill_lane_id(), place = own & (width - 1);
    return __kernelmill_warp_shuffle(mask, value, delta > place ? own : own - delta);
  }
  static inline __KM_MEMBER unsigned int down(unsigned int mask, unsigned int value, unsigned int delta, int width) {
    if (width == 32) return __kernelmill_warp_shuffle_down(mask, value, delta);
    unsigned int own = __kernelmill_lane_id(), place = own & (width - 1);
    bool outside = delta >= (unsigned int)width || place + delta >= (unsigned int)width;
    return __kernelmill_warp_shuffle(mask, value, outside ? own : own + delta);
  }
};

// Values as words of 32 bits.
template <int Size> struct __km_bits;
template <> struct __km_bits<1> { typedef unsigned char type; };
template <> struct __km_bits<2> { typedef unsigned short type; };
template <> struct __km_bits<4> { typedef unsigned int type; };
template <> struct __km_bits<8> { typedef unsigned long long type; };

#define __KM_SHUFFLE(NAME, HOW, ARGUMENT)                                                          \
  template <class T> __KM_D T NAME(__km_mask mask, T value, ARGUMENT argument, int width = 32) {    \
    typedef typename __km_bits<sizeof(T)>::type Bits;                                              \
    Bits bits = __builtin_bit_cast(Bits, value);                                                   \
    unsigned int low = __km_shuffle::HOW(mask, (unsigned int)bits, argument, width);               \
    if (sizeof(T) <= 4) return __builtin_bit_cast(T, (Bits)low);                                   \
    unsigned int high =                                                                            \
        __km_shuffle::HOW(mask, (unsigned int)((unsigned long long)bits >> 32), argument, width);  \
    return __builtin_bit_cast(T, (Bits)((unsigned long long)high << 32 | low));                    \
  }
__KM_SHUFFLE(__shfl_sync, to, int)
__KM_SHUFFLE(__shfl_xor_sync, by_xor, int)
__KM_SHUFFLE(__shfl_up_sync, up, unsigned int)
__KM_SHUFFLE(__shfl_down_sync, down, unsigned int)
#undef __KM_SHUFFLE

// What `combine` makes of the values of all lanes in `mask`.
template <class T, class Combine>
__KM_D T __km_reduce(__km_mask mask, T value, Combine combine) {
  T result = __shfl_sync(mask, value, __builtin_ctz(mask));
  for (unsigned int rest = mask & (mask - 1); rest != 0; rest &= rest - 1)
    result = combine(result, __shfl_sync(mask, value, __builtin_ctz(rest)));
  return result;
}
#define __KM_REDUCE(NAME, T, EXPRESSION)                                                           \
  __KM_D T NAME(__km_mask mask, T value) {                                                         \
    return __km_reduce(mask, value, [] __device__(T a, T b) { return EXPRESSION; });               \
  }
__KM_REDUCE(__reduce_add_sync, int, a + b)
__KM_REDUCE(__reduce_add_sync, unsigned int, a + b)
__KM_REDUCE(__reduce_min_sync, int, a < b ? a : b)
__KM_REDUCE(__reduce_min_sync, unsigned int, a < b ? a : b)
__KM_REDUCE(__reduce_max_sync, int, a > b ? a : b)
__KM_REDUCE(__reduce_max_sync, unsigned int, a > b ? a : b)
__KM_REDUCE(__reduce_and_sync, unsigned int, a &b)
__KM_REDUCE(__reduce_or_sync, unsigned int, a | b)
__KM_REDUCE(__reduce_xor_sync, unsigned int, a ^ b)
#undef __KM_REDUCE

template <class T> __KM_D unsigned int __match_any_sync(__km_mask mask, T value) {
  typedef typename __km_bits<sizeof(T)>::type Bits;
  Bits own = __builtin_bit_cast(Bits, value);
  unsigned int equal = 0;
  for (unsigned int rest = mask; rest != 0; rest &= rest - 1) {
    Bits other = __shfl_sync(mask, own, __builtin_ctz(rest));
    if (other == own) equal |= rest & (0u - rest);
  }
  return equal;
}
template <class T>
__KM_D unsigned int __match_all_sync(__km_mask mask, T value, int *predicate) {
  *predicate = __all_sync(mask, __match_any_sync(mask, value) == mask);
  return *predicate ? (unsigned int)mask : 0;
}
