// CUB's collectives, which other targets than NVIDIA's have too.
#include <cub/cub.cuh>

// A number behind a constructor: shared memory has none.
struct Wide {
  long long low, high;
  int tag;
  __host__ __device__ Wide() : low(0), high(0), tag(0) {}
  __host__ __device__ Wide(int x) : low(x), high(-x), tag(x & 7) {}
};
struct Combine {
  __host__ __device__ Wide operator()(const Wide &a, const Wide &b) const {
    Wide sum;
    sum.low = a.low + b.low;
    sum.high = a.high + b.high;
    sum.tag = a.tag ^ b.tag;
    return sum;
  }
};
// Not commutative: keeps the first and the last.
struct Ends {
  int first, last;
};
struct Join {
  __host__ __device__ Ends operator()(const Ends &a, const Ends &b) const { return {a.first, b.last}; }
};
struct Running {
  int total;
  __device__ int operator()(int sum) {
    int before = total;
    total += sum;
    return before;
  }
};

template <int Threads> __device__ void reduce(int *out, const int *in, int count) {
  typedef cub::BlockReduce<int, Threads> Reduce;
  __shared__ typename Reduce::TempStorage storage;
  int value = in[threadIdx.x];
  int sum = Reduce(storage).Sum(value);
  __syncthreads();
  int greatest = Reduce(storage).Reduce(value, cub::Max(), count);
  __syncthreads();
  int two[2] = {value, -2 * value};
  int of_two = Reduce(storage).Sum(two);

  typedef cub::BlockReduce<Ends, Threads, cub::BLOCK_REDUCE_RAKING> OfEnds;
  __shared__ typename OfEnds::TempStorage of_ends;
  Ends ends = OfEnds(of_ends).Reduce(Ends{value, value}, Join());

  typedef cub::KeyValuePair<int, int> Pair;
  typedef cub::BlockReduce<Pair, Threads> OfPairs;
  __shared__ typename OfPairs::TempStorage of_pairs;
  Pair least = OfPairs(of_pairs).Reduce(Pair(threadIdx.x, value), cub::ArgMin());
  if (threadIdx.x == 0) {
    out[0] = sum, out[1] = greatest, out[2] = of_two, out[3] = ends.first, out[4] = ends.last;
    out[5] = least.key, out[6] = least.value;
  }
}
__global__ void reductions(int *out, const int *in, int count) {
  if (blockDim.x == 96)
    reduce<96>(out, in, count);
  else
    reduce<50>(out, in, count);
}

__global__ void wide(long long *out, const int *in) {
  typedef cub::BlockReduce<Wide, 16, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 4> Reduce;
  __shared__ Reduce::TempStorage storage;
  Wide sum = Reduce(storage).Reduce(Wide(in[threadIdx.y * 16 + threadIdx.x]), Combine());
  if (threadIdx.x + threadIdx.y == 0) out[0] = sum.low, out[1] = sum.high, out[2] = sum.tag;
}

__global__ void scans(int *out, const int *in) {
  typedef cub::BlockScan<int, 80> Scan;
  __shared__ Scan::TempStorage storage;
  int value = in[threadIdx.x], *own = out + 9 * threadIdx.x;
  int total;
  Scan(storage).InclusiveSum(value, own[0], total);
  own[1] = total;
  __syncthreads();
  Scan(storage).ExclusiveSum(value, own[2]);
  __syncthreads();
  Scan(storage).ExclusiveScan(value, own[3], 5, cub::Max());
  __syncthreads();
  Running running = {1000};
  Scan(storage).ExclusiveSum(value, own[4], running);
  __syncthreads();
  Scan(storage).InclusiveSum(value, own[5], running);
  __syncthreads();
  int items[3] = {value, value + 1, value + 2};
  Scan(storage).ExclusiveSum(items, items);
  own[6] = items[0], own[7] = items[2];
  __syncthreads();
  int more[2] = {value, 1}, sums[2];
  cub::BlockScan<int, 80, cub::BLOCK_SCAN_WARP_SCANS>().InclusiveSum(more, sums);
  own[8] = sums[1];
}

__global__ void warps(int *out, const int *in) {
  typedef cub::WarpReduce<int, 8> Reduce;
  typedef cub::WarpScan<int> Scan;
  __shared__ Reduce::TempStorage reduce[8];
  __shared__ Scan::TempStorage scan[2];
  int value = in[threadIdx.x], *own = out + 5 * threadIdx.x;
  int sum = Reduce(reduce[threadIdx.x / 8]).Sum(value), few = Reduce(reduce[threadIdx.x / 8]).Reduce(value, cub::Max(), 3);
  own[0] = threadIdx.x % 8 == 0 ? sum : 0;
  own[1] = threadIdx.x % 8 == 0 ? few : 0;
  int total;
  Scan(scan[threadIdx.x / 32]).ExclusiveSum(value, own[2], total);
  own[3] = total;
  Scan(scan[threadIdx.x / 32]).InclusiveScan(value, own[4], cub::Min());
}

template <cub::BlockLoadAlgorithm HowLoaded, cub::BlockStoreAlgorithm HowStored>
__device__ void copy(int *out, const int *in, int count) {
  typedef cub::BlockLoad<int, 40, 3, HowLoaded> Load;
  typedef cub::BlockStore<int, 40, 3, HowStored> Store;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage;
  int items[3];
  Load(storage.load).Load(in, items, count, -7);
  __syncthreads();
  for (int i = 0; i < 3; i++) items[i] = items[i] * 10 + i;
  Store(storage.store).Store(out, items, count - 1);
}
__global__ void copies(int *out, const int *in, int count) {
  copy<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_VECTORIZE>(out, in, count);
  copy<cub::BLOCK_LOAD_STRIPED, cub::BLOCK_STORE_STRIPED>(out + 120, in, count);
}

__global__ void exchanges(int *out, const int *in) {
  typedef cub::BlockExchange<int, 48, 3> Exchange;
  __shared__ Exchange::TempStorage storage;
  int items[3], moved[3], ranks[3];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  for (int i = 0; i < 3; i++) ranks[i] = 143 - (threadIdx.x * 3 + i);
  Exchange(storage).BlockedToStriped(items, moved);
  cub::StoreDirectBlocked(threadIdx.x, out, moved);
  __syncthreads();
  Exchange(storage).StripedToBlocked(moved);
  cub::StoreDirectBlocked(threadIdx.x, out + 144, moved);
  __syncthreads();
  Exchange(storage).BlockedToWarpStriped(items, moved);
  cub::StoreDirectBlocked(threadIdx.x, out + 288, moved);
  __syncthreads();
  Exchange(storage).ScatterToBlocked(items, ranks);
  cub::StoreDirectStriped<48>(threadIdx.x, out + 432, items);
}

// Numbers as keys in their order, and back.
template <class T> __device__ void key(unsigned int *own, T value) {
  typedef cub::Traits<T> Traits;
  typename Traits::UnsignedBits bits;
  memcpy(&bits, &value, sizeof(T));
  own[0] = Traits::TwiddleIn(bits);
  own[1] = Traits::TwiddleOut(Traits::TwiddleIn(bits)) == bits;
}
__global__ void keys(unsigned int *out, const unsigned int *in) {
  unsigned int bits = in[threadIdx.x], *own = out + 6 * threadIdx.x;
  key(own, __uint_as_float(bits));
  key(own + 2, (int)bits);
  key(own + 4, bits);
}

// Code for the host calls what is there by its name.
int host(void *temporary, size_t &bytes, int *in, int *out, int count) {
  cub::DeviceReduce::Sum(temporary, bytes, in, out, count);
  cub::CachingDeviceAllocator allocator(true);
  CubDebugExit(allocator.DeviceAllocate(&temporary, bytes));
  cub::CountingInputIterator<int> numbers(count);
  cub::DeviceReduce::ArgMax(temporary, bytes, numbers + 1, out, count);
  return cub::DeviceScan::ExclusiveSum(temporary, bytes, in, out, count) == cudaSuccess;
}
