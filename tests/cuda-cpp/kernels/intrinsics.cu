// What NVIDIA's processors have single instructions for.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

// Twelve words for each thread.
extern "C" __global__ void warps(const unsigned int *x, unsigned int *out) {
  unsigned int t = threadIdx.x, v = x[t], *o = out + 12 * t, all = 0xffffffffu;
  o[0] = __shfl_sync(all, v, 3, 8);
  o[1] = __shfl_up_sync(all, v, 2, 8);
  o[2] = __shfl_down_sync(all, v, 3, 16);
  o[3] = __shfl_xor_sync(all, v, 5, 8);
  o[4] = __ballot_sync(all, v % 3 == 0);
  o[5] = __any_sync(all, v == 5) + 2 * __all_sync(all, v < 1000) + 4 * __all_sync(all, v < 40);
  o[6] = __reduce_add_sync(all, v);
  o[7] = __match_any_sync(all, v % 4);
  unsigned long long wide = __shfl_xor_sync(all, (unsigned long long)v << 40 | t, 1);
  o[8] = (unsigned int)(wide >> 40) + (unsigned int)wide;
  o[9] = (unsigned int)__syncthreads_count(v % 2);
  o[10] = (unsigned int)(__syncthreads_or(v == 7) + 2 * __syncthreads_and(v < 1000));
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  o[11] = cg::reduce(tile, v, cg::plus<unsigned int>()) + 1000 * tile.thread_rank();
  __syncwarp();
}

extern "C" __global__ void bits(const unsigned int *x, unsigned int *out) {
  unsigned int a = x[2 * threadIdx.x], b = x[2 * threadIdx.x + 1], *o = out + 14 * threadIdx.x;
  o[0] = __popc(a);
  o[1] = __clz((int)a);
  o[2] = __ffs((int)a);
  o[3] = __brev(a);
  o[4] = __byte_perm(a, b, 0x7531);
  o[5] = __byte_perm(a, b, 0x90a1);
  o[6] = __funnelshift_l(a, b, 11);
  o[7] = __funnelshift_r(a, b, 43);
  o[8] = __funnelshift_rc(a, b, 43);
  o[9] = (unsigned int)__dp4a((int)a, (int)b, -5);
  o[10] = __umulhi(a, b);
  o[11] = __vsubss4(a, b);
  o[12] = __vcmpne4(a, b);
  o[13] = (unsigned int)__mulhi((int)a, (int)b);
}

// Sums and choices of dynamic programming, and several small numbers in a word.
extern "C" __global__ void choices(const unsigned int *x, unsigned int *out) {
  unsigned int a = x[3 * threadIdx.x], b = x[3 * threadIdx.x + 1], c = x[3 * threadIdx.x + 2];
  unsigned int *o = out + 24 * threadIdx.x;
  int i = (int)a, j = (int)b, k = (int)c;
  bool first, high, low;
  o[0] = (unsigned int)__viaddmax_s32(i, j, k);
  o[1] = __viaddmin_u32(a, b, c);
  o[2] = __viaddmax_s16x2(a, b, c);
  o[3] = __viaddmin_u16x2(a, b, c);
  o[4] = (unsigned int)__viaddmin_s32_relu(i, j, k);
  o[5] = __viaddmax_s16x2_relu(a, b, c);
  o[6] = (unsigned int)__vimax3_s32(i, j, k);
  o[7] = __vimin3_u16x2(a, b, c);
  o[8] = (unsigned int)__vimin3_s32_relu(i, j, k);
  o[9] = (unsigned int)__vimax_s32_relu(i, j);
  o[10] = __vimin_s16x2_relu(a, b);
  o[11] = (unsigned int)__vibmax_s32(i, j, &first);
  o[12] = first;
  o[13] = __vibmin_u32(a, b, &first);
  o[14] = first;
  o[15] = __vibmin_s16x2(a, b, &high, &low);
  o[16] = (unsigned int)high << 1 | low;
  o[17] = __vabsss4(a);
  o[18] = __vnegss2(a);
  o[19] = __vhaddu4(a, b);
  o[20] = __vhaddu2(a, b);
  o[21] = __vsads4(a, b);
  o[22] = __vsadu2(a, b);
  o[23] = __vibmax_u16x2(a, b, &high, &low) ^ ((unsigned int)high << 1 | low);
}

// Each counter by its own operation, all threads together.
extern "C" __global__ void atomics(int *x, float *y, unsigned short *z) {
  int t = threadIdx.x;
  atomicAdd(x, t);
  atomicSub(x + 1, 2);
  atomicMin(x + 2, -t);
  atomicMax(x + 3, t * t);
  atomicAnd((unsigned int *)x + 4, ~(1u << (t % 32)));
  atomicOr((unsigned int *)x + 5, 1u << (t % 32));
  atomicXor(x + 6, t);
  atomicInc((unsigned int *)x + 7, 9);
  atomicDec((unsigned int *)x + 8, 9);
  atomicAdd((unsigned long long *)(x + 10), 1ull << 31);
  int old = x[12];
  for (int seen; (seen = atomicCAS(x + 12, old, old * 3 % 1001)) != old;) old = seen;
  atomicAdd(y, 0.25f);
  unsigned short before = *z;
  for (unsigned short seen; (seen = atomicCAS(z, before, (unsigned short)(before + 2))) != before;)
    before = seen;
}
