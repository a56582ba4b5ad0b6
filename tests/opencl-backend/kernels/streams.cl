// What the tests of streams launch.

// Runs long: `rounds` steps of a generator for each work-item.
kernel void steps(global uint *values, uint rounds) {
  size_t i = get_global_id(0);
  uint value = values[i];
  for (uint round = 0; round < rounds; round++) value = value * 1664525u + 1013904223u;
  values[i] = value;
}

kernel void add(global uint *values, uint summand) { values[get_global_id(0)] += summand; }

kernel void sum_of(global const uint *x, global const uint *y, global uint *out) {
  size_t i = get_global_id(0);
  out[i] = x[i] + y[i];
}
