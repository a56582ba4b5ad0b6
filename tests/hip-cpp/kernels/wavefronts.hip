// Operations among the threads of a wavefront, which have no masks in HIP: those threads take part that are active.
#include <hip/hip_runtime.h>

static_assert(sizeof(__ballot(1)) == 8, "votes have a bit for each lane of the widest wavefront");
#if defined(__HIP_PLATFORM_AMD__) && defined(__GFX9__)
static_assert(warpSize == 64 && __AMDGCN_WAVEFRONT_SIZE == 64, "");
#else
static_assert(warpSize == 32, "");
#endif

// The sum of each block.
__global__ void block_sums(const float *x, float *sums, int n) {
  HIP_DYNAMIC_SHARED(float, of_wavefronts);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x % warpSize, wavefront = threadIdx.x / warpSize;
  float sum = i < n ? x[i] : 0;
  for (int distance = warpSize / 2; distance > 0; distance /= 2) sum += __shfl_down(sum, distance);
  if (lane == 0) of_wavefronts[wavefront] = sum;
  __syncthreads();
  int count = blockDim.x / warpSize;
  if (wavefront == 0) {
    sum = lane < count ? of_wavefronts[lane] : 0;
    for (int distance = warpSize / 2; distance > 0; distance /= 2) sum += __shfl_xor(sum, distance);
    if (lane == 0) sums[blockIdx.x] = sum;
  }
}

// Positive numbers, one wavefront after the other, in the order of their lanes.
__global__ void positives(const int *x, int *out, int *counts) {
  int lane = __lane_id();
  int value = x[blockIdx.x * warpSize + lane];
  unsigned long long votes = __ballot(value > 0);
  int before = __popcll(votes & ((1ull << lane) - 1));
  if (value > 0) out[blockIdx.x * warpSize + before] = value;
  if (lane == 0) counts[blockIdx.x] = __popcll(votes);
}

// Every shuffle, of whole wavefronts and of parts of 8 lanes, and of values of 8 bytes.
__global__ void shuffles(const int *x, int *out) {
  int lane = threadIdx.x, value = x[lane];
  int *own = out + 8 * lane;
  own[0] = __shfl(value, 3);
  own[1] = __shfl(value, lane + 1, 8);
  own[2] = __shfl_xor(value, 5);
  own[3] = __shfl_up(value, 2);
  own[4] = __shfl_up(value, 2, 8);
  own[5] = __shfl_down(value, 3);
  own[6] = __shfl_down(value, 3, 8);
  double wide = __shfl_xor((double)value + 0.5, 1);
  own[7] = (int)(2 * wide);
}

// Threads in different branches: each group shuffles and votes by itself.
__global__ void apart(const int *x, int *out, unsigned long long *votes) {
  int lane = threadIdx.x, value = x[lane];
  if (lane % 2 == 0) {
    votes[lane] = __ballot(value > 50);
    out[lane] = __shfl(value, 4);
  } else {
    votes[lane] = __activemask();
    out[lane] = __shfl_xor(value, 2) + __any(value > 98) * 1000 + __all(value >= 0) * 2000;
  }
  __syncthreads();
  if (lane < 3) out[lane] += __shfl(value, 1);
}

// With masks, which have 64 bits.
__global__ void masked(const int *x, int *out) {
  int lane = threadIdx.x, value = x[lane];
  unsigned long long votes = __ballot_sync(0xffffffffffffffffull, value % 3 == 0);
  int sum = value;
  for (int distance = 1; distance < warpSize; distance *= 2)
    sum += __shfl_xor_sync(0xffffffffffffffffull, sum, distance);
  __syncwarp();
  out[lane] = sum + __popcll(votes);
}

__global__ void same(const int *x, unsigned long long *out) {
  out[threadIdx.x] = __match_any(x[threadIdx.x] % 4);
}

// Groups of lanes with masks of their own, which are at the same call: even and odd ones.
__global__ void groups(const int *x, unsigned long long *out) {
  int lane = threadIdx.x, value = x[lane];
  unsigned long long mask = lane % 2 == 0 ? 0x5555555555555555ull : 0xaaaaaaaaaaaaaaaaull, *own = out + 8 * lane;
  int all, none;
  own[0] = __match_any_sync(mask, value % 4);
  own[1] = __match_all_sync(mask, lane % 2, &all);
  own[2] = __match_all_sync(mask, lane % 4, &none);
  own[3] = all * 10 + none;
  own[4] = __reduce_add_sync(mask, value);
  own[5] = __reduce_max_sync(mask, (long long)value << 33);
  own[6] = __reduce_min_sync(mask, value) + 1000 * __reduce_xor_sync(0xffffffffffffffffull, value);
  own[7] = __reduce_or_sync(mask, (unsigned int)value) + 1000 * __reduce_and_sync(mask, (unsigned int)value | 6);
}
