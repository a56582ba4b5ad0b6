// `y = 2 * x`, in OpenCL C: every target suits it.
kernel void doubled(global const float *x, global float *y, uint n) {
  size_t i = get_global_id(0);
  if (i < n) y[i] = 2.0f * x[i];
}
