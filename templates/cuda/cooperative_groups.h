// Groups of threads: the grid, a block, and the tiles of a warp.
#pragma once
#define _COOPERATIVE_GROUPS_H_

namespace cooperative_groups {

struct thread_block {
  static __KM_MEMBER void sync() { __syncthreads(); }
  static __KM_MEMBER unsigned int num_threads() {
    return blockDim.x * blockDim.y * blockDim.z;
  }
  static __KM_MEMBER unsigned int size() { return num_threads(); }
  static __KM_MEMBER unsigned int thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  static __KM_MEMBER dim3 group_index() { return blockIdx; }
  static __KM_MEMBER dim3 thread_index() { return threadIdx; }
  static __KM_MEMBER dim3 dim_threads() { return blockDim; }
  static __KM_MEMBER dim3 group_dim() { return blockDim; }
};
__KM_D thread_block this_thread_block() { return thread_block(); }
__KM_D void sync(const thread_block &) { __syncthreads(); }

// All threads of a launch. A kernel that waits for them is launched cooperatively.
struct grid_group {
  static __KM_MEMBER void sync() { __kernelmill_grid_barrier(); }
  static __KM_MEMBER bool is_valid() { return true; }
  static __KM_MEMBER unsigned long long num_blocks() {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
  }
  static __KM_MEMBER unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static __KM_MEMBER unsigned long long num_threads() {
    return num_blocks() * thread_block::num_threads();
  }
  static __KM_MEMBER unsigned long long size() { return num_threads(); }
  static __KM_MEMBER unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  static __KM_MEMBER dim3 dim_blocks() { return gridDim; }
  static __KM_MEMBER dim3 block_index() { return blockIdx; }
  static __KM_MEMBER dim3 group_dim() { return gridDim; }
};
__KM_D grid_group this_grid() { return grid_group(); }
__KM_D void sync(const grid_group &) { __kernelmill_grid_barrier(); }

// What a shuffle of words makes of a value of any size: the value itself where it is a word, else its words one by one.
template <bool IsWord> struct __km_words {
  template <class T, class Shuffle> static __device__ T of(T value, const Shuffle &shuffle) {
    return shuffle(value);
  }
};
template <> struct __km_words<false> {
  template <class T, class Shuffle> static __device__ T of(T value, const Shuffle &shuffle) {
    static_assert(sizeof(T) <= 32, "a value that threads exchange has up to 32 bytes");
    unsigned int words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (unsigned int &word : words) word = shuffle(word);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
  }
};
#define __KM_EXCHANGE(value, ...)                                                                  \
  __km_words<sizeof(value) == 1 || sizeof(value) == 2 || sizeof(value) == 4 ||                  \
                sizeof(value) == 8>::of(value, [&](auto word) { return __VA_ARGS__; })

// Threads of a warp by the bits of a mask; SIZE of them that follow each other, or some. A tile knows what it is part of, the
// tile alone by its type.
template <unsigned int Size, class Parent = void> struct thread_block_tile;
template <unsigned int Size> struct thread_block_tile<Size, void> {
  static_assert(Size > 0 && Size <= 32 && (Size & (Size - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads");
  static __device__ unsigned int mask() {
    unsigned int first = __kernelmill_lane_id() & ~(Size - 1);
    return (Size == 32 ? ~0u : (1u << (Size & 31)) - 1) << first;
  }
  static __device__ void sync() { __syncwarp(__km_mask(mask())); }
  static __KM_MEMBER unsigned int num_threads() { return Size; }
  static __KM_MEMBER unsigned int size() { return Size; }
  static __device__ unsigned int thread_rank() { return __kernelmill_lane_id() & (Size - 1); }
  __KM_MEMBER unsigned int meta_group_rank() const { return rank_in_parent; }
  __KM_MEMBER unsigned int meta_group_size() const { return tiles_of_parent; }
  template <class T> __device__ T shfl(T value, int lane) const {
    return __KM_EXCHANGE(value, __shfl_sync(__km_mask(mask()), word, lane, Size));
  }
  template <class T> __device__ T shfl_xor(T value, int bits) const {
    return __KM_EXCHANGE(value, __shfl_xor_sync(__km_mask(mask()), word, bits, Size));
  }
  template <class T> __device__ T shfl_up(T value, unsigned int delta) const {
    return __KM_EXCHANGE(value, __shfl_up_sync(__km_mask(mask()), word, delta, Size));
  }
  template <class T> __device__ T shfl_down(T value, unsigned int delta) const {
    return __KM_EXCHANGE(value, __shfl_down_sync(__km_mask(mask()), word, delta, Size));
  }
  __device__ int any(int predicate) const { return __any_sync(__km_mask(mask()), predicate); }
  __device__ int all(int predicate) const { return __all_sync(__km_mask(mask()), predicate); }
  __device__ unsigned int ballot(int predicate) const {
    unsigned int first = __kernelmill_lane_id() & ~(Size - 1);
    return __ballot_sync(__km_mask(mask()), predicate) >> first;
  }

  // Which tile it is of what it is part of, and how many tiles that has.
  unsigned int rank_in_parent, tiles_of_parent;
};
template <unsigned int Size, class Parent> struct thread_block_tile : thread_block_tile<Size> {};
template <unsigned int Size, class Parent>
__KM_D thread_block_tile<Size, Parent> __km_tile(unsigned int rank, unsigned int count) {
  thread_block_tile<Size, Parent> tile;
  tile.rank_in_parent = rank;
  tile.tiles_of_parent = count;
  return tile;
}
template <unsigned int Size>
__KM_D thread_block_tile<Size, thread_block> tiled_partition(const thread_block &block) {
  return __km_tile<Size, thread_block>(block.thread_rank() / Size,
                                       (block.num_threads() + Size - 1) / Size);
}
template <unsigned int Size, unsigned int Outer, class Parent>
__KM_D thread_block_tile<Size, thread_block_tile<Outer, Parent>>
tiled_partition(const thread_block_tile<Outer, Parent> &tile) {
  static_assert(Size <= Outer, "a tile is no greater than what it is part of");
  return __km_tile<Size, thread_block_tile<Outer, Parent>>(tile.thread_rank() / Size, Outer / Size);
}

// The threads of a warp that run here together. Which those are is for each target to say: it may be
// fewer than take the same branch. They are numbered by their rank among them.
class coalesced_group {
  unsigned int members;
  __KM_MEMBER explicit coalesced_group(unsigned int mask) : members(mask) {}
  friend __device__ coalesced_group coalesced_threads();
  friend __device__ coalesced_group __km_part(unsigned int mask);

  // The lane with a rank.
  __device__ unsigned int lane(unsigned int rank) const {
    unsigned int rest = members;
    for (unsigned int below = 0; below < rank; ++below) rest &= rest - 1;
    return __ffs((int)rest) - 1;
  }
  // The bits of lanes as bits of ranks.
  __device__ unsigned int ranks(unsigned int lanes) const {
    unsigned int packed = 0, bit = 1;
    for (unsigned int rest = members; rest != 0; rest &= rest - 1, bit <<= 1)
      if (lanes & rest & (0u - rest)) packed |= bit;
    return packed;
  }

 public:
  __KM_MEMBER unsigned int mask() const { return members; }
  __device__ void sync() const { __syncwarp(__km_mask(members)); }
  __device__ unsigned int num_threads() const { return __popc(members); }
  __device__ unsigned int size() const { return num_threads(); }
  __device__ unsigned int thread_rank() const {
    return __popc(members & ((1u << __kernelmill_lane_id()) - 1));
  }
  static __KM_MEMBER unsigned int meta_group_size() { return 1; }
  static __KM_MEMBER unsigned int meta_group_rank() { return 0; }
  template <class T> __device__ T shfl(T value, unsigned int rank) const {
    unsigned int from = lane(rank % num_threads());
    return __KM_EXCHANGE(value, __shfl_sync(__km_mask(members), word, from));
  }
  template <class T> __device__ T shfl_up(T value, unsigned int delta) const {
    unsigned int rank = thread_rank(), from = lane(rank < delta ? rank : rank - delta);
    return __KM_EXCHANGE(value, __shfl_sync(__km_mask(members), word, from));
  }
  template <class T> __device__ T shfl_down(T value, unsigned int delta) const {
    unsigned int rank = thread_rank(), next = rank + delta;
    unsigned int from = lane(next < num_threads() ? next : rank);
    return __KM_EXCHANGE(value, __shfl_sync(__km_mask(members), word, from));
  }
  __device__ int any(int predicate) const { return __any_sync(__km_mask(members), predicate); }
  __device__ int all(int predicate) const { return __all_sync(__km_mask(members), predicate); }
  __device__ unsigned int ballot(int predicate) const {
    return ranks(__ballot_sync(__km_mask(members), predicate));
  }
};
__device__ inline __attribute__((always_inline)) coalesced_group coalesced_threads() {
  return coalesced_group(__kernelmill_active_mask());
}
template <class Group> __KM_D void sync(const Group &group) { group.sync(); }

// The threads of a group that have the same as the thread that asks.
__device__ inline __attribute__((always_inline)) coalesced_group __km_part(unsigned int mask) {
  return coalesced_group(mask);
}
template <class Group> __KM_D coalesced_group binary_partition(const Group &group, bool is) {
  unsigned int those = __ballot_sync(__km_mask(group.mask()), is);
  return __km_part(is ? those : group.mask() & ~those);
}
template <class Group, class Label>
__KM_D coalesced_group labeled_partition(const Group &group, Label label) {
  return __km_part(__match_any_sync(__km_mask(group.mask()), label));
}

// A block or threads of a warp, for functions that take any group.
class thread_group {
  bool is_block;
  unsigned int members;
  __KM_MEMBER explicit thread_group(unsigned int mask) : is_block(false), members(mask) {}
  friend __device__ thread_group tiled_partition(const thread_group &parent, unsigned int size);

 public:
  __KM_MEMBER thread_group(const thread_block &) : is_block(true), members(0) {}
  template <unsigned int Size, class Parent>
  __device__ thread_group(const thread_block_tile<Size, Parent> &tile)
      : is_block(false), members(tile.mask()) {}
  __KM_MEMBER thread_group(const coalesced_group &group)
      : is_block(false), members(group.mask()) {}

  __device__ void sync() const {
    if (is_block)
      __syncthreads();
    else
      __syncwarp(__km_mask(members));
  }
  static __KM_MEMBER bool is_valid() { return true; }
  __device__ unsigned int num_threads() const {
    return is_block ? thread_block::num_threads() : __popc(members);
  }
  __device__ unsigned int size() const { return num_threads(); }
  __device__ unsigned int thread_rank() const {
    if (is_block) return thread_block::thread_rank();
    return __popc(members & ((1u << __kernelmill_lane_id()) - 1));
  }
};
// The tile of so many threads, a power of two up to 32, that a thread is in.
__device__ inline __attribute__((always_inline)) thread_group
tiled_partition(const thread_group &parent, unsigned int size) {
  if (size == 0 || size > 32 || (size & (size - 1)) != 0) __trap();
  unsigned int whole = parent.is_block ? ~0u : parent.members, tile = 0, rank = 0;
  unsigned int own = __popc(whole & ((1u << __kernelmill_lane_id()) - 1)) / size;
  for (unsigned int rest = whole; rest != 0; rest &= rest - 1, ++rank)
    if (rank / size == own) tile |= rest & (0u - rest);
  return thread_group(tile);
}

template <class T> struct plus {
  __KM_MEMBER T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less {
  __KM_MEMBER T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T> struct greater {
  __KM_MEMBER T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T> struct bit_and {
  __KM_MEMBER T operator()(T a, T b) const { return a & b; }
};
template <class T> struct bit_or {
  __KM_MEMBER T operator()(T a, T b) const { return a | b; }
};
template <class T> struct bit_xor {
  __KM_MEMBER T operator()(T a, T b) const { return a ^ b; }
};
// What all threads of a tile get of their values.
template <unsigned int Size, class T, class Combine>
__KM_D T reduce(const thread_block_tile<Size> &tile, T value, Combine combine) {
  for (unsigned int distance = Size / 2; distance > 0; distance /= 2)
    value = combine(value, tile.shfl_xor(value, (int)distance));
  return value;
}
// The same of threads that run together, in the order of their ranks.
template <class T, class Combine>
__KM_D T reduce(const coalesced_group &group, T value, Combine combine) {
  T all = group.shfl(value, 0u);
  for (unsigned int rank = 1; rank < group.num_threads(); ++rank)
    all = combine(all, group.shfl(value, rank));
  return all;
}

}  // namespace cooperative_groups
