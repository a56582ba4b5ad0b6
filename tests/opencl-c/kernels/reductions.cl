// Sums and extremes, in local memory whose size the launch gives, or that the kernel has.

kernel void group_sums(global const float *x, global float *sums, local float *partial, uint n) {
  size_t i = get_global_id(0), lane = get_local_id(0);
  partial[lane] = i < n ? x[i] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
    if (lane < half_size) partial[lane] += partial[lane + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) sums[get_group_id(0)] = partial[0];
}

kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void least(global const int *x, global int *least_value, global uint *least_place) {
  local int values[64];
  local uint places[64];
  uint lane = get_local_id(0), i = get_global_id(0);
  values[lane] = x[i];
  places[lane] = i;
  for (uint step = 32; step > 0; step >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < step && values[lane + step] < values[lane]) {
      values[lane] = values[lane + step];
      places[lane] = places[lane + step];
    }
  }
  if (lane == 0) {
    least_value[get_group_id(0)] = values[0];
    least_place[get_group_id(0)] = places[0];
  }
}

// Two parts of dynamic local memory, the second with a larger alignment.
kernel void pairs(global const uchar *bytes, global int4 *out, local uchar *first, local int4 *second) {
  uint lane = get_local_id(0), size = get_local_size(0);
  first[lane] = bytes[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  second[lane] = (int4)(first[lane], first[size - 1 - lane], first[0], lane);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = second[(lane + 1) % size];
}
