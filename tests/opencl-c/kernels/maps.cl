// One work-item for each element.

kernel void saxpy(const float a, global const float *x, global float *y, const uint n) {
  size_t i = get_global_id(0);
  if (i < n) y[i] = mad(a, x[i], y[i]);
}

kernel void saxpy4(const float4 a, global const float4 *restrict x, global float4 *restrict y) {
  size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}

// Vectors that one truth value selects, as sorting networks do.
kernel void merges(global const float4 *x, global float4 *low, global float4 *high) {
  size_t i = get_global_id(0);
  float4 a = x[2 * i], b = x[2 * i + 1];
  low[i] = a.x < b.x ? a : b;
  high[i] = a.x < b.x ? b.wzyx : a.wzyx;
}

// A grid-stride loop, in OpenCL's names.
__kernel void squares(__global uint *out, uint n) {
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) out[i] = (uint)(i * i);
}

__kernel void places(__global uint4 *out) {
  size_t x = get_global_id(0), y = get_global_id(1);
  uint4 place = (uint4)(get_local_id(0), get_local_id(1), get_group_id(0), get_group_id(1));
  uint4 sizes = (uint4)(get_local_size(0), get_num_groups(1), get_work_dim(), get_local_size(7));
  out[2 * (y * get_global_size(0) + x)] = place;
  out[2 * get_global_linear_id() + 1] = sizes;
}
