// c = a b, in groups of 16 by 16 work-items, each with a tile of both matrices in local memory.
//
// a has a row of `inner` elements for each row of c, b has `inner` rows of `width` elements. All three numbers
// are multiples of 16.

#define TILE 16

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
multiply(global const float *a, global const float *b, global float *c, uint width, uint inner) {
  local float of_a[TILE][TILE], of_b[TILE][TILE];
  size_t x = get_local_id(0), y = get_local_id(1);
  size_t column = get_global_id(0), row = get_global_id(1);
  float sum = 0.0f;
  for (uint tile = 0; tile < inner; tile += TILE) {
    of_a[y][x] = a[row * inner + tile + x];
    of_b[y][x] = b[(tile + y) * width + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < TILE; k++) sum += of_a[y][k] * of_b[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * width + column] = sum;
}
