// What is optional in OpenCL C 3.0: functions of work-groups and sub-groups, atomic functions of 2.0, variables.

kernel void groups(global const int *x, global int *out) {
  size_t i = get_global_id(0);
  int value = x[i];
  out[6 * i] = work_group_reduce_add(value);
  out[6 * i + 1] = work_group_scan_inclusive_add(value);
  out[6 * i + 2] = work_group_scan_exclusive_max(value);
  out[6 * i + 3] = work_group_broadcast(value, 3);
  out[6 * i + 4] = work_group_any(value > 90) + 2 * work_group_all(value >= 0);
  out[6 * i + 5] = sub_group_reduce_max(value) + 1000 * (int)get_sub_group_local_id();
}

kernel void sub_groups(global const float *x, global float *out, global uint *votes) {
  size_t i = get_global_id(0);
  float value = x[i];
  float sum = sub_group_reduce_add(value), before = sub_group_scan_exclusive_add(value);
  float turned = sub_group_shuffle_xor(value, 1), first = sub_group_broadcast(value, 0);
  out[i] = sum + before * 0.5f + turned * 1000.0f + first * 0.25f + sub_group_any(value > 90.0f);
  uint4 are = sub_group_ballot(value > 50.0f || get_sub_group_local_id() == 5);
  uint4 after = get_sub_group_gt_mask();
  votes[6 * i] = sub_group_ballot_bit_count(are) + 100 * sub_group_ballot_bit_count(after);
  votes[6 * i + 1] = sub_group_ballot_exclusive_scan(are);
  votes[6 * i + 2] = sub_group_ballot_inclusive_scan(are);
  votes[6 * i + 3] = sub_group_ballot_find_lsb(are) + 100 * sub_group_ballot_find_msb(are);
  votes[6 * i + 4] = sub_group_inverse_ballot(are) + 2 * sub_group_ballot_bit_extract(are, 5);
  uint twice = 2 * get_sub_group_local_id() + 3;
  votes[6 * i + 5] = sub_group_broadcast_first(twice) + sub_group_non_uniform_broadcast(twice, 4);
}

kernel void new_atomics(volatile global atomic_int *words, global const int *x,
                        volatile global atomic_long *wide, volatile global atomic_float *real) {
  int value = x[get_global_id(0)];
  atomic_fetch_add(&words[0], value);
  atomic_fetch_sub_explicit(&words[1], value, memory_order_relaxed);
  atomic_fetch_min_explicit(&words[2], value, memory_order_acq_rel, memory_scope_device);
  atomic_fetch_max(&words[3], value);
  atomic_fetch_or(&words[4], value);
  int seen = atomic_load_explicit(&words[5], memory_order_relaxed);
  while (!atomic_compare_exchange_weak(&words[5], &seen, seen + 3)) {
  }
  if (get_global_id(0) == 7) atomic_store(&words[6], 77);
  atomic_fetch_add_explicit(wide, (long)value << 33, memory_order_relaxed);
  atomic_fetch_add(real, 0.5f);
}

// A variable of the program's own.
__global int calls = 40;
kernel void counts(global int *out) {
  if (get_global_id(0) == 0) out[0] = atomic_add(&calls, 1);
}
