// Tiles of local memory: stencils, transposition, matrix product.
#include "tiles.clh"

kernel void five_points(global const float *in, global float *out, uint width, uint height) {
  local float tile[TILE + 2][TILE + 2];
  int lx = get_local_id(0), ly = get_local_id(1);
  int x = get_global_id(0), y = get_global_id(1);
  for (int ty = ly; ty < TILE + 2; ty += TILE)
    for (int tx = lx; tx < TILE + 2; tx += TILE) {
      int gx = clamp((int)get_group_id(0) * TILE + tx - 1, 0, (int)width - 1);
      int gy = clamp((int)get_group_id(1) * TILE + ty - 1, 0, (int)height - 1);
      tile[ty][tx] = in[gy * width + gx];
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x >= width || y >= height) return;
  float sides = tile[ly + 1][lx] + tile[ly + 1][lx + 2] + tile[ly][lx + 1] + tile[ly + 2][lx + 1];
  out[y * width + x] = 0.5f * tile[ly + 1][lx + 1] + 0.125f * sides;
}

constant float taps[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

kernel void convolve(global const float *in, global float *out, int n, constant float *gain) {
  int i = get_global_id(0);
  if (i >= n) return;
  float sum = 0;
  for (int k = -2; k <= 2; k++) sum += taps[k + 2] * in[min(max(i + k, 0), n - 1)];
  out[i] = sum * gain[i & 1];
}

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void transpose(global const float *in, global float *out, uint width, uint height) {
  local float tile[TILE][TILE + 1];
  uint x = get_global_id(0), y = get_global_id(1);
  if (x < width && y < height) tile[get_local_id(1)][get_local_id(0)] = in[y * width + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(1) * TILE + get_local_id(0);
  y = get_group_id(0) * TILE + get_local_id(1);
  if (x < height && y < width) out[y * height + x] = tile[get_local_id(0)][get_local_id(1)];
}

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void product(global const float *a, global const float *b, global float *c, uint n) {
  local float left[TILE][TILE], right[TILE][TILE];
  uint lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (uint k = 0; k < n; k += TILE) {
    left[ly][lx] = a[y * n + k + lx];
    right[ly][lx] = b[(k + ly) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < TILE; i++) sum = fma(left[ly][i], right[i][lx], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * n + x] = sum;
}

// The group copies rows into local memory and back.
kernel void reverse_rows(global const float *in, global float *out, local float *row) {
  size_t width = get_local_size(0), first = get_group_id(0) * width;
  event_t copied = async_work_group_copy(row, in + first, width, 0);
  wait_group_events(1, &copied);
  float value = row[width - 1 - get_local_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  row[get_local_id(0)] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  copied = async_work_group_copy(out + first, row, width, 0);
  wait_group_events(1, &copied);
}
