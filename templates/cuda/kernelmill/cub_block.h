// CUB's reductions and scans of a block: of each warp by shuffles, and of the warps' results through shared memory.
#pragma once

#include "cub_warp.h"

namespace cub {

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

__KM_D int RowMajorTid(int x, int y, int z) {
  return (z == 1 ? 0 : (int)threadIdx.z * x * y) + (y == 1 ? 0 : (int)threadIdx.y * x) + (int)threadIdx.x;
}

// The result is that of the first thread.
template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int = 0>
class BlockReduce {
  enum { THREADS = X * Y * Z, WARPS = (THREADS + 31) / 32 };

 public:
  struct TempStorage {
    Uninitialized<T> of_warps[WARPS];
  };
  __KM_CUB BlockReduce() : storage(own_storage()), thread(RowMajorTid(X, Y, Z)) {}
  __KM_CUB BlockReduce(TempStorage &storage) : storage(storage), thread(RowMajorTid(X, Y, Z)) {}

  template <class Combine> __KM_CUB T Reduce(T value, Combine combine) {
    return Reduce(value, combine, THREADS);
  }
  // Of the first `count` threads.
  template <class Combine> __KM_CUB T Reduce(T value, Combine combine, int count) {
    int first = thread & ~31, lane = thread & 31;
    int lanes = count - first < 0 ? 0 : count - first < 32 ? count - first : 32;
    value = __km_cub_reduce(value, combine, lane, lanes, 32);
    if (lane == 0) storage.of_warps[thread / 32].Alias() = value;
    __syncthreads();
    if (thread == 0) {
      for (int warp = 1; warp < WARPS && 32 * warp < count; warp++)
        value = combine(value, storage.of_warps[warp].Alias());
    }
    return value;
  }
  template <int Items, class Combine> __KM_CUB T Reduce(T (&values)[Items], Combine combine) {
    T value = values[0];
#pragma unroll
    for (int i = 1; i < Items; i++) value = combine(value, values[i]);
    return Reduce(value, combine);
  }
  __KM_CUB T Sum(T value) { return Reduce(value, cub::Sum()); }
  __KM_CUB T Sum(T value, int count) { return Reduce(value, cub::Sum(), count); }
  template <int Items> __KM_CUB T Sum(T (&values)[Items]) { return Reduce(values, cub::Sum()); }

 private:
  static __KM_CUB TempStorage &own_storage() {
    __shared__ TempStorage storage;
    return storage;
  }
  TempStorage &storage;
  int thread;
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0> class BlockScan {
  enum { THREADS = X * Y * Z, WARPS = (THREADS + 31) / 32 };

 public:
  struct TempStorage {
    Uninitialized<T> of_warps[WARPS];
    Uninitialized<T> prefix;
  };
  __KM_CUB BlockScan() : storage(own_storage()), thread(RowMajorTid(X, Y, Z)) {}
  __KM_CUB BlockScan(TempStorage &storage) : storage(storage), thread(RowMajorTid(X, Y, Z)) {}

  template <class Combine> __KM_CUB void InclusiveScan(T value, T &result, Combine combine, T &total) {
    Both both = scan(value, combine, total);
    result = both.inclusive;
  }
  template <class Combine> __KM_CUB void InclusiveScan(T value, T &result, Combine combine) {
    T total;
    InclusiveScan(value, result, combine, total);
  }
  // The first warp calls `callback` with the total, and what its first lane gets stands before all values.
  template <class Combine, class Callback>
  __KM_CUB void InclusiveScan(T value, T &result, Combine combine, Callback &callback) {
    T total;
    Both both = scan(value, combine, total);
    result = combine(prefix_of(callback, total), both.inclusive);
  }
  template <int Items, class Combine>
  __KM_CUB void InclusiveScan(T (&values)[Items], T (&results)[Items], Combine combine, T &total) {
    Both both = scan(reduced(values, combine), combine, total);
    T sum = thread == 0 ? values[0] : T(combine(both.exclusive, values[0]));
    inclusive(sum, values, results, combine);
  }
  template <int Items, class Combine>
  __KM_CUB void InclusiveScan(T (&values)[Items], T (&results)[Items], Combine combine) {
    T total;
    InclusiveScan(values, results, combine, total);
  }
  template <int Items, class Combine, class Callback>
  __KM_CUB void InclusiveScan(T (&values)[Items], T (&results)[Items], Combine combine, Callback &callback) {
    T total;
    Both both = scan(reduced(values, combine), combine, total);
    T prefix = prefix_of(callback, total);
    T before = thread == 0 ? prefix : T(combine(prefix, both.exclusive));
    inclusive(combine(before, values[0]), values, results, combine);
  }

  // Without a first value, the first result is not defined. Totals are without it.
  template <class Combine> __KM_CUB void ExclusiveScan(T value, T &result, Combine combine) {
    T total;
    result = scan(value, combine, total).exclusive;
  }
  template <class Combine> __KM_CUB void ExclusiveScan(T value, T &result, Combine combine, T &total) {
    result = scan(value, combine, total).exclusive;
  }
  template <class Combine> __KM_CUB void ExclusiveScan(T value, T &result, T first, Combine combine, T &total) {
    Both both = scan(value, combine, total);
    result = thread == 0 ? first : T(combine(first, both.exclusive));
  }
  template <class Combine> __KM_CUB void ExclusiveScan(T value, T &result, T first, Combine combine) {
    T total;
    ExclusiveScan(value, result, first, combine, total);
  }
  template <class Combine, class Callback>
  __KM_CUB void ExclusiveScan(T value, T &result, Combine combine, Callback &callback) {
    T total;
    Both both = scan(value, combine, total);
    T prefix = prefix_of(callback, total);
    result = thread == 0 ? prefix : T(combine(prefix, both.exclusive));
  }
  template <int Items, class Combine>
  __KM_CUB void ExclusiveScan(T (&values)[Items], T (&results)[Items], T first, Combine combine, T &total) {
    Both both = scan(reduced(values, combine), combine, total);
    exclusive(thread == 0 ? first : T(combine(first, both.exclusive)), values, results, combine);
  }
  template <int Items, class Combine>
  __KM_CUB void ExclusiveScan(T (&values)[Items], T (&results)[Items], T first, Combine combine) {
    T total;
    ExclusiveScan(values, results, first, combine, total);
  }
  template <int Items, class Combine, class Callback>
  __KM_CUB void ExclusiveScan(T (&values)[Items], T (&results)[Items], Combine combine, Callback &callback) {
    T total;
    Both both = scan(reduced(values, combine), combine, total);
    T prefix = prefix_of(callback, total);
    exclusive(thread == 0 ? prefix : T(combine(prefix, both.exclusive)), values, results, combine);
  }

  __KM_CUB void InclusiveSum(T value, T &result) { InclusiveScan(value, result, cub::Sum()); }
  __KM_CUB void InclusiveSum(T value, T &result, T &total) { InclusiveScan(value, result, cub::Sum(), total); }
  template <class Callback> __KM_CUB void InclusiveSum(T value, T &result, Callback &callback) {
    InclusiveScan(value, result, cub::Sum(), callback);
  }
  template <int Items> __KM_CUB void InclusiveSum(T (&values)[Items], T (&results)[Items]) {
    InclusiveScan(values, results, cub::Sum());
  }
  template <int Items> __KM_CUB void InclusiveSum(T (&values)[Items], T (&results)[Items], T &total) {
    InclusiveScan(values, results, cub::Sum(), total);
  }
  template <int Items, class Callback>
  __KM_CUB void InclusiveSum(T (&values)[Items], T (&results)[Items], Callback &callback) {
    InclusiveScan(values, results, cub::Sum(), callback);
  }
  __KM_CUB void ExclusiveSum(T value, T &result) { ExclusiveScan(value, result, T(0), cub::Sum()); }
  __KM_CUB void ExclusiveSum(T value, T &result, T &total) {
    ExclusiveScan(value, result, T(0), cub::Sum(), total);
  }
  template <class Callback> __KM_CUB void ExclusiveSum(T value, T &result, Callback &callback) {
    ExclusiveScan(value, result, cub::Sum(), callback);
  }
  template <int Items> __KM_CUB void ExclusiveSum(T (&values)[Items], T (&results)[Items]) {
    ExclusiveScan(values, results, T(0), cub::Sum());
  }
  template <int Items> __KM_CUB void ExclusiveSum(T (&values)[Items], T (&results)[Items], T &total) {
    ExclusiveScan(values, results, T(0), cub::Sum(), total);
  }
  template <int Items, class Callback>
  __KM_CUB void ExclusiveSum(T (&values)[Items], T (&results)[Items], Callback &callback) {
    ExclusiveScan(values, results, cub::Sum(), callback);
  }

 private:
  struct Both {
    T inclusive, exclusive;
  };
  // What stands up to each thread, and before it: the latter is not defined for the first one.
  template <class Combine> __KM_CUB Both scan(T value, Combine combine, T &total) {
    int warp = thread / 32, lane = thread & 31;
    T own = __km_cub_scan(value, combine, lane, 32);
    T before = __km_cub_up(own, 1, 32);
    if (lane == 31 || thread == THREADS - 1) storage.of_warps[warp].Alias() = own;
    __syncthreads();
    T sum = storage.of_warps[0].Alias();
    T prefix = sum;
#pragma unroll
    for (int other = 1; other < WARPS; other++) {
      if (warp == other) prefix = sum;
      sum = combine(sum, storage.of_warps[other].Alias());
    }
    total = sum;
    if (warp == 0) return {own, before};
    return {combine(prefix, own), lane == 0 ? prefix : T(combine(prefix, before))};
  }
  template <class Callback> __KM_CUB T prefix_of(Callback &callback, T total) {
    if (thread < 32) {
      T prefix = callback(total);
      if (thread == 0) storage.prefix.Alias() = prefix;
    }
    __syncthreads();
    return storage.prefix.Alias();
  }
  template <int Items, class Combine> static __KM_CUB T reduced(T (&values)[Items], Combine combine) {
    T value = values[0];
#pragma unroll
    for (int i = 1; i < Items; i++) value = combine(value, values[i]);
    return value;
  }
  // Values and results may be the same array.
  template <int Items, class Combine>
  static __KM_CUB void inclusive(T sum, T (&values)[Items], T (&results)[Items], Combine combine) {
    results[0] = sum;
#pragma unroll
    for (int i = 1; i < Items; i++) {
      sum = combine(sum, values[i]);
      results[i] = sum;
    }
  }
  template <int Items, class Combine>
  static __KM_CUB void exclusive(T before, T (&values)[Items], T (&results)[Items], Combine combine) {
#pragma unroll
    for (int i = 0; i < Items; i++) {
      T value = values[i];
      results[i] = before;
      if (i + 1 < Items) before = combine(before, value);
    }
  }
  static __KM_CUB TempStorage &own_storage() {
    __shared__ TempStorage storage;
    return storage;
  }
  TempStorage &storage;
  int thread;
};

}  // namespace cub
