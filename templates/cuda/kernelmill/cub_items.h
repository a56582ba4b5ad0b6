// CUB's arrays of each thread, and what is in them: values that lie one behind another ("blocked"), or one of each thread at a time
// ("striped"), of a block or of each of its warps.
#pragma once

#include "cub_block.h"

namespace cub {

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

}  // namespace cub

// `place` gives the index of each value.
template <class T, int Items, class From, class Place>
__KM_D void __km_cub_load(From from, T (&values)[Items], int valid, Place place) {
#pragma unroll
  for (int i = 0; i < Items; i++) {
    if (place(i) < valid) values[i] = from[place(i)];
  }
}
template <class T, int Items, class To, class Place>
__KM_D void __km_cub_store(To to, T (&values)[Items], int valid, Place place) {
#pragma unroll
  for (int i = 0; i < Items; i++) {
    if (place(i) < valid) to[place(i)] = values[i];
  }
}
#define __KM_CUB_ALL 0x7fffffff
#define __KM_CUB_PLACE(EXPRESSION) [=] __device__(int i) { return EXPRESSION; }

namespace cub {

// Values behind `valid` are left as they are, or become `other`.
#define __KM_CUB_DIRECT(KIND, PARAMETERS, PLACE)                                                                           \
  template <__KM_CUB_EACH PARAMETERS class T, int Items, class From>                                                       \
  __KM_D void LoadDirect##KIND(int thread, From from, T (&values)[Items], int valid) {                                     \
    __km_cub_load(from, values, valid, __KM_CUB_PLACE(PLACE));                                                             \
  }                                                                                                                        \
  template <__KM_CUB_EACH PARAMETERS class T, int Items, class From>                                                       \
  __KM_D void LoadDirect##KIND(int thread, From from, T (&values)[Items]) {                                                \
    __km_cub_load(from, values, __KM_CUB_ALL, __KM_CUB_PLACE(PLACE));                                                      \
  }                                                                                                                        \
  template <__KM_CUB_EACH PARAMETERS class T, int Items, class From, class Other>                                          \
  __KM_D void LoadDirect##KIND(int thread, From from, T (&values)[Items], int valid, Other other) {                        \
    for (T &value : values) value = other;                                                                                 \
    __km_cub_load(from, values, valid, __KM_CUB_PLACE(PLACE));                                                             \
  }                                                                                                                        \
  template <__KM_CUB_EACH PARAMETERS class T, int Items, class To>                                                         \
  __KM_D void StoreDirect##KIND(int thread, To to, T (&values)[Items], int valid) {                                        \
    __km_cub_store(to, values, valid, __KM_CUB_PLACE(PLACE));                                                              \
  }                                                                                                                        \
  template <__KM_CUB_EACH PARAMETERS class T, int Items, class To>                                                         \
  __KM_D void StoreDirect##KIND(int thread, To to, T (&values)[Items]) {                                                   \
    __km_cub_store(to, values, __KM_CUB_ALL, __KM_CUB_PLACE(PLACE));                                                       \
  }
#define __KM_CUB_EACH
__KM_CUB_DIRECT(Blocked, , thread *Items + i)
__KM_CUB_DIRECT(WarpStriped, , (thread & ~31) * Items + i * 32 + (thread & 31))
#undef __KM_CUB_EACH
#define __KM_CUB_EACH int Threads,
__KM_CUB_DIRECT(Striped, , thread + i *Threads)
#undef __KM_CUB_EACH
#undef __KM_CUB_DIRECT

template <class T, int X, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int = 0>
class BlockLoad {
 public:
  struct TempStorage {
    unsigned char unused;
  };
  __KM_CUB BlockLoad() : thread(RowMajorTid(X, Y, Z)) {}
  __KM_CUB BlockLoad(TempStorage &) : thread(RowMajorTid(X, Y, Z)) {}
  template <class From> __KM_CUB void Load(From from, T (&values)[Items]) { Load(from, values, __KM_CUB_ALL); }
  template <class From> __KM_CUB void Load(From from, T (&values)[Items], int valid) {
    if (Algorithm == BLOCK_LOAD_STRIPED)
      LoadDirectStriped<X * Y * Z>(thread, from, values, valid);
    else
      LoadDirectBlocked(thread, from, values, valid);
  }
  template <class From, class Other> __KM_CUB void Load(From from, T (&values)[Items], int valid, Other other) {
    for (T &value : values) value = other;
    Load(from, values, valid);
  }

 private:
  int thread;
};

template <class T, int X, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int = 0>
class BlockStore {
 public:
  struct TempStorage {
    unsigned char unused;
  };
  __KM_CUB BlockStore() : thread(RowMajorTid(X, Y, Z)) {}
  __KM_CUB BlockStore(TempStorage &) : thread(RowMajorTid(X, Y, Z)) {}
  template <class To> __KM_CUB void Store(To to, T (&values)[Items]) { Store(to, values, __KM_CUB_ALL); }
  template <class To> __KM_CUB void Store(To to, T (&values)[Items], int valid) {
    if (Algorithm == BLOCK_STORE_STRIPED)
      StoreDirectStriped<X * Y * Z>(thread, to, values, valid);
    else
      StoreDirectBlocked(thread, to, values, valid);
  }

 private:
  int thread;
};

// Moves values among threads through shared memory. `Threads` and `thread` are those that do so together, `wait` is their barrier.
template <class T, int Items, int Threads, class Wait> struct __km_exchange {
  Uninitialized<T> *storage;
  int thread;
  Wait wait;
  // `to` and `from` give the place of each value of a thread, by its number there.
  template <class U, class To, class From>
  __KM_CUB void move(const T (&values)[Items], U (&results)[Items], To to, From from) {
#pragma unroll
    for (int i = 0; i < Items; i++) storage[to(i)].Alias() = values[i];
    wait();
#pragma unroll
    for (int i = 0; i < Items; i++) results[i] = storage[from(i)].Alias();
  }
  __KM_CUB int blocked(int i) const { return thread * Items + i; }
  __KM_CUB int striped(int i) const { return i * Threads + thread; }
};

#define __KM_CUB_MOVE(NAME, TO, FROM)                                                                                      \
  template <class U> __KM_CUB void NAME(const T (&values)[Items], U (&results)[Items]) {                                   \
    exchange.move(values, results, [this] __device__(int i) { return TO; }, [this] __device__(int i) { return FROM; });    \
  }                                                                                                                        \
  __KM_CUB void NAME(T (&values)[Items]) { NAME(values, values); }
#define __KM_CUB_SCATTER(NAME, FROM)                                                                                       \
  template <class U, class Rank>                                                                                           \
  __KM_CUB void NAME(const T (&values)[Items], U (&results)[Items], Rank (&ranks)[Items]) {                                \
    exchange.move(values, results, [&] __device__(int i) { return (int)ranks[i]; },                                        \
                  [this] __device__(int i) { return FROM; });                                                              \
  }                                                                                                                        \
  template <class Rank> __KM_CUB void NAME(T (&values)[Items], Rank (&ranks)[Items]) { NAME(values, values, ranks); }

struct __km_wait_block {
  __KM_CUB void operator()() const { __syncthreads(); }
};
struct __km_wait_warp {
  __KM_CUB void operator()() const { __syncwarp(); }
};

template <class T, int X, int Items, bool = false, int Y = 1, int Z = 1, int = 0> class BlockExchange {
  enum { THREADS = X * Y * Z };

 public:
  struct TempStorage {
    Uninitialized<T> values[THREADS * Items];
  };
  __KM_CUB BlockExchange(TempStorage &storage) : exchange{storage.values, RowMajorTid(X, Y, Z), {}} {}
  __KM_CUB_MOVE(BlockedToStriped, exchange.blocked(i), exchange.striped(i))
  __KM_CUB_MOVE(StripedToBlocked, exchange.striped(i), exchange.blocked(i))
  __KM_CUB_MOVE(BlockedToWarpStriped, exchange.blocked(i), of_warp(i))
  __KM_CUB_MOVE(WarpStripedToBlocked, of_warp(i), exchange.blocked(i))
  __KM_CUB_SCATTER(ScatterToBlocked, exchange.blocked(i))
  __KM_CUB_SCATTER(ScatterToStriped, exchange.striped(i))

 private:
  // Striped in a warp, of which the last may have fewer threads.
  __KM_CUB int of_warp(int i) const {
    int first = exchange.thread & ~31, threads = THREADS - first < 32 ? THREADS - first : 32;
    return first * Items + i * threads + (exchange.thread & 31);
  }
  __km_exchange<T, Items, THREADS, __km_wait_block> exchange;
};

enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };
template <class T, int Items, int Threads = 32, int = 0, WarpExchangeAlgorithm = WARP_EXCHANGE_SMEM> class WarpExchange {
 public:
  struct TempStorage {
    Uninitialized<T> values[Threads * Items];
  };
  __KM_CUB WarpExchange(TempStorage &storage)
      : exchange{storage.values, (int)__kernelmill_lane_id() & (Threads - 1), {}} {}
  __KM_CUB_MOVE(BlockedToStriped, exchange.blocked(i), exchange.striped(i))
  __KM_CUB_MOVE(StripedToBlocked, exchange.striped(i), exchange.blocked(i))
  __KM_CUB_SCATTER(ScatterToStriped, exchange.striped(i))

 private:
  __km_exchange<T, Items, Threads, __km_wait_warp> exchange;
};

#undef __KM_CUB_MOVE
#undef __KM_CUB_SCATTER
#undef __KM_CUB_PLACE
#undef __KM_CUB_ALL

}  // namespace cub
