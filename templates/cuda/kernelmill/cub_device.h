// What CUB has for code of the host: iterators, and algorithms of a whole device, by their names alone.
#pragma once

#include "cub_functions.h"
#if __has_include(<chrono>)
// The toolkit's header brings it along, and programs use it unasked.
#include <chrono>
#endif

namespace cub {

template <class T, class Offset = long long> struct CountingInputIterator {
  T first;
  explicit __KM_MEMBER CountingInputIterator(const T &first) : first(first) {}
  template <class Index> __KM_MEMBER T operator[](Index index) const { return first + (T)index; }
  __KM_MEMBER T operator*() const { return first; }
  template <class Index> __KM_MEMBER CountingInputIterator operator+(Index by) const {
    return CountingInputIterator(first + (T)by);
  }
};
template <class T, class Convert, class From, class Offset = long long> struct TransformInputIterator {
  From from;
  Convert convert;
  __KM_MEMBER TransformInputIterator(From from, Convert convert) : from(from), convert(convert) {}
  template <class Index> __KM_MEMBER T operator[](Index index) const { return convert(from[index]); }
  __KM_MEMBER T operator*() const { return convert(from[0]); }
  template <class Index> __KM_MEMBER TransformInputIterator operator+(Index by) const {
    return TransformInputIterator(from + by, convert);
  }
};
// Two buffers, of which one has the values.
template <class T> struct DoubleBuffer {
  T *d_buffers[2];
  int selector;
  __KM_MEMBER DoubleBuffer() : d_buffers{}, selector(0) {}
  __KM_MEMBER DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate}, selector(0) {}
  __KM_MEMBER T *Current() { return d_buffers[selector]; }
  __KM_MEMBER T *Alternate() { return d_buffers[selector ^ 1]; }
};

#define __KM_CUB_DEVICE(NAME) template <class... Arguments> static cudaError_t NAME(const Arguments &...);
#define __KM_CUB_MEMBER(NAME) template <class... Arguments> cudaError_t NAME(const Arguments &...);
struct DeviceReduce {
  __KM_CUB_DEVICE(Reduce) __KM_CUB_DEVICE(Sum) __KM_CUB_DEVICE(Min) __KM_CUB_DEVICE(Max) __KM_CUB_DEVICE(ArgMin)
  __KM_CUB_DEVICE(ArgMax) __KM_CUB_DEVICE(ReduceByKey) __KM_CUB_DEVICE(TransformReduce)
};
struct DeviceSegmentedReduce {
  __KM_CUB_DEVICE(Reduce) __KM_CUB_DEVICE(Sum) __KM_CUB_DEVICE(Min) __KM_CUB_DEVICE(Max) __KM_CUB_DEVICE(ArgMin)
  __KM_CUB_DEVICE(ArgMax)
};
struct DeviceScan {
  __KM_CUB_DEVICE(ExclusiveSum) __KM_CUB_DEVICE(ExclusiveScan) __KM_CUB_DEVICE(InclusiveSum)
  __KM_CUB_DEVICE(InclusiveScan) __KM_CUB_DEVICE(ExclusiveSumByKey) __KM_CUB_DEVICE(InclusiveSumByKey)
};
struct DeviceSelect {
  __KM_CUB_DEVICE(Flagged) __KM_CUB_DEVICE(If) __KM_CUB_DEVICE(Unique) __KM_CUB_DEVICE(UniqueByKey)
};
struct DevicePartition {
  __KM_CUB_DEVICE(Flagged) __KM_CUB_DEVICE(If)
};
struct DeviceRadixSort {
  __KM_CUB_DEVICE(SortPairs) __KM_CUB_DEVICE(SortPairsDescending) __KM_CUB_DEVICE(SortKeys)
  __KM_CUB_DEVICE(SortKeysDescending)
};
struct DeviceSegmentedRadixSort {
  __KM_CUB_DEVICE(SortPairs) __KM_CUB_DEVICE(SortPairsDescending) __KM_CUB_DEVICE(SortKeys)
  __KM_CUB_DEVICE(SortKeysDescending)
};
struct DeviceSegmentedSort {
  __KM_CUB_DEVICE(SortPairs) __KM_CUB_DEVICE(SortPairsDescending) __KM_CUB_DEVICE(SortKeys)
  __KM_CUB_DEVICE(SortKeysDescending) __KM_CUB_DEVICE(StableSortPairs) __KM_CUB_DEVICE(StableSortKeys)
};
struct DeviceMergeSort {
  __KM_CUB_DEVICE(SortPairs) __KM_CUB_DEVICE(SortKeys) __KM_CUB_DEVICE(StableSortPairs) __KM_CUB_DEVICE(StableSortKeys)
};
struct DeviceHistogram {
  __KM_CUB_DEVICE(HistogramEven) __KM_CUB_DEVICE(HistogramRange) __KM_CUB_DEVICE(MultiHistogramEven)
  __KM_CUB_DEVICE(MultiHistogramRange)
};
struct DeviceRunLengthEncode {
  __KM_CUB_DEVICE(Encode) __KM_CUB_DEVICE(NonTrivialRuns)
};
struct DeviceFor {
  __KM_CUB_DEVICE(Bulk) __KM_CUB_DEVICE(ForEach) __KM_CUB_DEVICE(ForEachN)
};
// Memory that is kept for the next one who asks.
struct CachingDeviceAllocator {
  template <class... Arguments> CachingDeviceAllocator(const Arguments &...);
  __KM_CUB_MEMBER(DeviceAllocate) __KM_CUB_MEMBER(DeviceFree) __KM_CUB_MEMBER(FreeAllCached)
};
#undef __KM_CUB_DEVICE
#undef __KM_CUB_MEMBER

#define CubDebug(error) (error)
#define CubDebugExit(error) ((void)(error))

}  // namespace cub
