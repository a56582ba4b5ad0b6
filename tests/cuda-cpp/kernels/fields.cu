// Structures that lie one after the other, whose fields are read and written.

struct Three { unsigned a, b, c; };
struct Five { unsigned a, b, c, d, e; };
struct Eight { unsigned a, b, c, d, e, f, g, h; };
struct Mixed { unsigned a; float b; };
struct Wide { unsigned long long a, b; };
struct Bytes { unsigned char a, b, c; };

#define PLACE int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return

extern "C" __global__ void two(uint2 *out, const unsigned *in, int n) {
    PLACE;
    out[i] = make_uint2(in[i] + 1, in[i] * 3);
}

extern "C" __global__ void three(Three *out, const unsigned *in, int n) {
    PLACE;
    out[i] = {in[i], in[i] * 5, in[i] ^ i};
}

extern "C" __global__ void four(uint4 *out, const uint4 *in, int n) {
    PLACE;
    uint4 v = in[i];
    out[i] = make_uint4(v.w, v.z + 1, v.y * 3, v.x ^ v.w);
}

extern "C" __global__ void five(Five *out, const unsigned *in, int n) {
    PLACE;
    unsigned v = in[i];
    out[i] = {v, v + 1, v + 2, v * 7, v ^ 9};
}

extern "C" __global__ void eight(Eight *out, const unsigned *in, int n) {
    PLACE;
    unsigned v = in[i];
    out[i] = {v, v + 1, v + 2, v * 7, v ^ 9, v >> 3, v << 4, v * v};
}

extern "C" __global__ void mixed(Mixed *out, const unsigned *in, int n) {
    PLACE;
    out[i] = {in[i] * 3, (float)(in[i] & 1023) * 0.5f};
}

extern "C" __global__ void wide(Wide *out, const unsigned *in, int n) {
    PLACE;
    out[i] = {in[i] * 0x123456789ull, ~(unsigned long long)in[i]};
}

extern "C" __global__ void bytes(Bytes *out, const unsigned *in, int n) {
    PLACE;
    unsigned v = in[i];
    out[i] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16)};
}

// The fields in another order, the second structure of each thread first.
extern "C" __global__ void turned(uint2 *out, const unsigned *in, int n) {
    PLACE;
    out[2 * i + 1].y = in[i] + 4;
    out[2 * i].x = in[i] + 1;
    out[2 * i + 1].x = in[i] + 3;
    out[2 * i].y = in[i] + 2;
}

// One field is left as it is.
extern "C" __global__ void gap(uint4 *out, const unsigned *in, int n) {
    PLACE;
    out[i].x = in[i];
    out[i].y = in[i] + 1;
    out[i].w = in[i] + 3;
}

// A field is written twice.
extern "C" __global__ void twice(uint2 *out, const unsigned *in, int n) {
    PLACE;
    volatile unsigned *x = &out[i].x;
    out[i].y = in[i];
    *x = 1;
    out[i].x = in[i] + 7;
}

// What is read between the stores may be what one of them wrote: the own structure, by its number.
extern "C" __global__ void between(uint2 *out, const unsigned *order, int n) {
    PLACE;
    unsigned place = order[i];
    out[i].x = 5 * i + 1;
    unsigned read = out[place].x;
    out[i].y = read + 2;
}

// What is read again may have been written since.
extern "C" __global__ void again(uint2 *out, const unsigned *order, int n) {
    PLACE;
    uint2 before = out[i];
    out[order[i]] = make_uint2(before.y + 1, before.x * 3);
    uint2 after = out[i];
    out[i] = make_uint2(after.x ^ (before.y << 8), after.y + before.x);
}

// Some threads write.
extern "C" __global__ void some(uint2 *out, const unsigned *in, int n) {
    PLACE;
    if (in[i] & 1) out[i] = make_uint2(in[i], i);
    else out[i].y = in[i];
}
