// Vectors, structs, tables and conversions.

typedef struct {
  float4 position;
  float3 velocity;
  int charges[2];
  uchar kind;
} particle_t;

kernel void move(global particle_t *particles, const float step, const int3 shift) {
  global particle_t *own = &particles[get_global_id(0)];
  own->position.xyz += own->velocity * step + convert_float3(shift);
  own->position.w = dot(own->velocity, own->velocity);
  own->charges[own->kind & 1] += shift.s2;
}

struct line { float4 added; float slope, offset; short first; };

kernel void lines(global float *y, struct line line, const ulong skip) {
  size_t i = get_global_id(0);
  y[i] = i < line.first ? -1.0f : line.slope * (float)(i + skip) + line.offset + line.added.w;
}

kernel void swizzles(global const float4 *in, global float8 *out, global float2 *ends, global char16 *bytes) {
  size_t i = get_global_id(0);
  float4 v = in[i];
  float8 wide = (float8)(v.wzyx, v.even, v.odd);
  wide.s07 = wide.s70;
  out[i] = select(wide, -wide, wide > 2.5f);
  ends[i] = (float2)(any(isgreater(v, (float4)(3.0f))), all(v >= 0.0f));
  bytes[i] = as_char16(v) ^ (char16)(1);
}

kernel void unaligned(global const float *in, global float *out) {
  size_t i = get_global_id(0);
  float3 v = vload3(i, in + 1);
  vstore3(v.zyx, i, out);
  float4 w = vload4(i, in + 1);
  vstore4(w * 2.0f, i, out + 3 * get_global_size(0));
}

__constant int powers[8] = {1, 3, 9, 27, 81, 243, 729, 2187};
__constant struct { int factor; float offset; } rows[2] = {{2, 0.5f}, {-3, 1.5f}};

int weighed(__constant int *table, int digits) {
  int sum = 0;
  for (int i = 0; i < 8; i++) sum += table[i] * ((digits >> i) & 1);
  return sum;
}

kernel void tables(global const int *x, global float *out, __constant float *given) {
  size_t i = get_global_id(0);
  out[i] = weighed(powers, x[i]) * rows[i & 1].factor + rows[i & 1].offset + given[i % 3];
}

kernel void conversions(global const float *in, global int *out, global uchar4 *pixels, global half *halves) {
  size_t i = get_global_id(0);
  float x = in[i];
  global int *own = out + 8 * i;
  own[0] = convert_int_sat(x);
  own[1] = convert_int_rte(x);
  own[2] = convert_int_rtp(x);
  own[3] = convert_int_rtn(x);
  own[4] = convert_uchar_sat_rte(x);
  own[5] = as_int(x);
  own[6] = convert_short_sat(x);
  own[7] = (int)convert_uint_sat(x);
  pixels[i] = convert_uchar4_sat_rte((float4)(x, x + 0.5f, x * 100.0f, -x));
  vstore_half(x, i, halves);
}

kernel void half_sums(global const half *in, global float *out) {
  size_t i = get_global_id(0);
  float4 v = vload_half4(i, in);
  out[i] = v.x + v.y + v.z + v.w + vload_half(4 * i, in);
}
