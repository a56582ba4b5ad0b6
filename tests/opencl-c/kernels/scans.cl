// Prefix sums of a work-group in local memory.

// Hillis and Steele's: two halves of local memory take turns.
kernel void hillis_steele(global const int *x, global int *out, local int *both) {
  uint lane = get_local_id(0), size = get_local_size(0), from = 0;
  both[lane] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 1; step < size; step *= 2) {
    uint to = size - from;
    both[to + lane] = both[from + lane] + (lane >= step ? both[from + lane - step] : 0);
    from = to;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = both[from + lane];
}

// Blelloch's: exclusive, two elements for each work-item, up and down a tree.
kernel void blelloch(global const uint *x, global uint *out, global uint *totals, local uint *tree) {
  const uint lane = get_local_id(0), size = get_local_size(0), first = 2 * size * get_group_id(0);
  tree[2 * lane] = x[first + 2 * lane];
  tree[2 * lane + 1] = x[first + 2 * lane + 1];
  uint offset = 1;
  for (uint nodes = size; nodes > 0; nodes >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < nodes) tree[offset * (2 * lane + 2) - 1] += tree[offset * (2 * lane + 1) - 1];
    offset <<= 1;
  }
  if (lane == 0) {
    totals[get_group_id(0)] = tree[2 * size - 1];
    tree[2 * size - 1] = 0;
  }
  for (uint nodes = 1; nodes <= size; nodes <<= 1) {
    offset >>= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < nodes) {
      uint left = offset * (2 * lane + 1) - 1, right = offset * (2 * lane + 2) - 1;
      uint kept = tree[left];
      tree[left] = tree[right];
      tree[right] += kept;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[first + 2 * lane] = tree[2 * lane];
  out[first + 2 * lane + 1] = tree[2 * lane + 1];
}
