// Votes, matches and reductions of a warp, and barriers that count.
extern "C" __global__ void warps(const int* in, unsigned* out) {
    int i = threadIdx.x, all;
    out[i * 6] = __ballot_sync(~0u, in[i] > 3);
    out[i * 6 + 1] = __match_any_sync(~0u, in[i] & 3);
    out[i * 6 + 2] = __match_all_sync(~0u, in[i], &all) + all;
    out[i * 6 + 3] = __reduce_add_sync(~0u, in[i]);
    out[i * 6 + 4] = __any_sync(~0u, in[i] == 7) + 2 * __all_sync(~0u, in[i] >= 0);
    out[i * 6 + 5] = __activemask();
}
extern "C" __global__ void counts(const int* in, int* out) {
    int v = in[threadIdx.x];
    out[threadIdx.x] = __syncthreads_count(v > 3) + 1000 * __syncthreads_and(v >= 0) +
                       2000 * __syncthreads_or(v > 100);
}
