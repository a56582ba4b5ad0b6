// CUB's collectives of a warp, or of equal parts of one, whose sizes are powers of two.
#pragma once

#include "cub_functions.h"

namespace cub {

// The result is that of the first lane of each part.
template <class T, int Threads = 32, int = 0> class WarpReduce {
  static_assert(Threads <= 32 && (Threads & (Threads - 1)) == 0, "a part of a warp has a power of two of lanes");

 public:
  struct TempStorage {
    unsigned char unused;
  };
  __KM_CUB WarpReduce(TempStorage &) : lane(__kernelmill_lane_id() & (Threads - 1)) {}
  template <class Combine> __KM_CUB T Reduce(T value, Combine combine) {
    return __km_cub_reduce(value, combine, lane, Threads, Threads);
  }
  template <class Combine> __KM_CUB T Reduce(T value, Combine combine, int count) {
    return __km_cub_reduce(value, combine, lane, count, Threads);
  }
  __KM_CUB T Sum(T value) { return Reduce(value, cub::Sum()); }
  __KM_CUB T Sum(T value, int count) { return Reduce(value, cub::Sum(), count); }
  __KM_CUB T Max(T value) { return Reduce(value, cub::Max()); }
  __KM_CUB T Max(T value, int count) { return Reduce(value, cub::Max(), count); }
  __KM_CUB T Min(T value) { return Reduce(value, cub::Min()); }
  __KM_CUB T Min(T value, int count) { return Reduce(value, cub::Min(), count); }

 private:
  unsigned int lane;
};

template <class T, int Threads = 32, int = 0> class WarpScan {
  static_assert(Threads <= 32 && (Threads & (Threads - 1)) == 0, "a part of a warp has a power of two of lanes");

 public:
  struct TempStorage {
    unsigned char unused;
  };
  __KM_CUB WarpScan(TempStorage &) : lane(__kernelmill_lane_id() & (Threads - 1)) {}

  template <class Combine> __KM_CUB void InclusiveScan(T value, T &result, Combine combine) {
    result = __km_cub_scan(value, combine, lane, Threads);
  }
  template <class Combine> __KM_CUB void InclusiveScan(T value, T &result, Combine combine, T &total) {
    InclusiveScan(value, result, combine);
    total = Broadcast(result, Threads - 1);
  }
  // The first lane's result is not defined.
  template <class Combine> __KM_CUB void ExclusiveScan(T value, T &result, Combine combine) {
    result = __km_cub_up(__km_cub_scan(value, combine, lane, Threads), 1, Threads);
  }
  template <class Combine> __KM_CUB void ExclusiveScan(T value, T &result, Combine combine, T &total) {
    T own = __km_cub_scan(value, combine, lane, Threads);
    result = __km_cub_up(own, 1, Threads);
    total = Broadcast(own, Threads - 1);
  }
  template <class Combine> __KM_CUB void ExclusiveScan(T value, T &result, T first, Combine combine) {
    T before = __km_cub_up(__km_cub_scan(value, combine, lane, Threads), 1, Threads);
    result = lane == 0 ? first : T(combine(first, before));
  }
  template <class Combine> __KM_CUB void ExclusiveScan(T value, T &result, T first, Combine combine, T &total) {
    T own = __km_cub_scan(value, combine, lane, Threads);
    T before = __km_cub_up(own, 1, Threads);
    result = lane == 0 ? first : T(combine(first, before));
    total = Broadcast(own, Threads - 1);
  }
  __KM_CUB void InclusiveSum(T value, T &result) { InclusiveScan(value, result, cub::Sum()); }
  __KM_CUB void InclusiveSum(T value, T &result, T &total) { InclusiveScan(value, result, cub::Sum(), total); }
  __KM_CUB void ExclusiveSum(T value, T &result) { ExclusiveScan(value, result, T(0), cub::Sum()); }
  __KM_CUB void ExclusiveSum(T value, T &result, T &total) {
    ExclusiveScan(value, result, T(0), cub::Sum(), total);
  }
  __KM_CUB T Broadcast(T value, unsigned int from) { return __km_cub_from(value, (int)from, Threads); }

 private:
  unsigned int lane;
};

}  // namespace cub
