// Atomic functions of OpenCL C 1.x.

kernel void histogram(global const uchar *data, global uint *bins, uint n) {
  local uint own[64];
  for (uint i = get_local_id(0); i < 64; i += get_local_size(0)) own[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&own[data[i] & 63]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < 64; i += get_local_size(0)) atomic_add(&bins[i], own[i]);
}

kernel void old_atomics(volatile global int *words, global const int *x) {
  int value = x[get_global_id(0)];
  atomic_add(&words[0], value);
  atomic_sub(&words[1], value);
  atomic_min(&words[2], value);
  atomic_max(&words[3], value);
  atomic_and(&words[4], value | 0xff);
  atomic_or(&words[5], value);
  atomic_xor(&words[6], value);
  atomic_inc(&words[7]);
  atomic_dec(&words[8]);
  int old, next = words[9];
  do {
    old = next;
    next = atomic_cmpxchg(&words[9], old, old + 2);
  } while (next != old);
  if (get_global_id(0) == 0) words[11] = atomic_xchg(&words[10], 5);
}

// One work-item in a group takes places for all of them.
kernel void compact(global const int *x, global int *out, volatile global int *count) {
  local int taken, first;
  if (get_local_id(0) == 0) taken = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int value = x[get_global_id(0)], place = 0;
  bool is_wanted = value % 3 == 0;
  if (is_wanted) place = atomic_add(&taken, 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) first = atomic_add(count, taken);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (is_wanted) out[first + place] = value;
}
