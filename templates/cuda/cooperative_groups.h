// Groups of threads: a block, and the tiles of a warp. A grid that waits for all of its blocks is
// not among them: not every target can.
#pragma once

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

// Threads of a warp by the bits of a mask; SIZE of them that follow each other, or some.
template <unsigned int Size> struct thread_block_tile {
  static_assert(Size > 0 && Size <= 32 && (Size & (Size - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads");
  static __device__ unsigned int mask() {
    unsigned int first = __kernelmill_lane_id() & ~(Size - 1);
    return (Size == 32 ? ~0u : (1u << (Size & 31)) - 1) << first;
  }
  static __device__ void sync() { __syncwarp(mask()); }
  static __KM_MEMBER unsigned int num_threads() { return Size; }
  static __KM_MEMBER unsigned int size() { return Size; }
  static __device__ unsigned int thread_rank() { return __kernelmill_lane_id() & (Size - 1); }
  static __device__ unsigned int meta_group_rank() {
    return thread_block::thread_rank() / Size;
  }
  static __device__ unsigned int meta_group_size() {
    return (thread_block::num_threads() + Size - 1) / Size;
  }
  template <class T> __device__ T shfl(T value, int lane) const {
    return __shfl_sync(mask(), value, lane, Size);
  }
  template <class T> __device__ T shfl_xor(T value, int bits) const {
    return __shfl_xor_sync(mask(), value, bits, Size);
  }
  template <class T> __device__ T shfl_up(T value, unsigned int delta) const {
    return __shfl_up_sync(mask(), value, delta, Size);
  }
  template <class T> __device__ T shfl_down(T value, unsigned int delta) const {
    return __shfl_down_sync(mask(), value, delta, Size);
  }
  __device__ int any(int predicate) const { return __any_sync(mask(), predicate); }
  __device__ int all(int predicate) const { return __all_sync(mask(), predicate); }
  __device__ unsigned int ballot(int predicate) const {
    unsigned int first = __kernelmill_lane_id() & ~(Size - 1);
    return __ballot_sync(mask(), predicate) >> first;
  }
};
template <unsigned int Size> __KM_D thread_block_tile<Size> tiled_partition(const thread_block &) {
  return thread_block_tile<Size>();
}
template <unsigned int Size, unsigned int Outer>
__KM_D thread_block_tile<Size> tiled_partition(const thread_block_tile<Outer> &) {
  static_assert(Size <= Outer, "a tile is no greater than what it is part of");
  return thread_block_tile<Size>();
}
template <class Group> __KM_D void sync(const Group &group) { group.sync(); }

template <class T> struct plus {
  __KM_MEMBER T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less {
  __KM_MEMBER T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T> struct greater {
  __KM_MEMBER T operator()(T a, T b) const { return a < b ? b : a; }
};
// What all threads of a tile get of their values.
template <unsigned int Size, class T, class Combine>
__KM_D T reduce(const thread_block_tile<Size> &tile, T value, Combine combine) {
  for (unsigned int distance = Size / 2; distance > 0; distance /= 2)
    value = combine(value, tile.shfl_xor(value, (int)distance));
  return value;
}

}  // namespace cooperative_groups
