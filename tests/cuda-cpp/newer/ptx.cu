// Inline PTX of single instructions, which other targets than NVIDIA's have too. On these it needs compute capability 8.0.
#include <stdint.h>

__global__ void integers(unsigned int *out, const unsigned int *numbers) {
  unsigned int a = numbers[2 * threadIdx.x], b = numbers[2 * threadIdx.x + 1], c = threadIdx.x * 0x01010101u;
  unsigned int *own = out + 19 * threadIdx.x;
  unsigned long long wide;
  asm("sub.s32 %0, %1, %2;" : "=r"(own[0]) : "r"(a), "r"(b));
  asm("mul.hi.s32 %0, %1, %2;" : "=r"(own[1]) : "r"(a), "r"(b));
  asm("mul.hi.u32 %0, %1, %2;\n\t" : "=r"(own[2]) : "r"(a), "r"(b));
  asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(own[3]) : "r"(a), "r"(b), "r"(c));
  asm volatile("mul.wide.u32 %0, %1, %2;" : "=l"(wide) : "r"(a), "r"(b));
  own[4] = (unsigned int)(wide >> 32) ^ (unsigned int)wide;
  asm("shl.b32 %0, %1, %2;" : "=r"(own[5]) : "r"(a), "r"(threadIdx.x));
  asm("shr.s32 %0, %1, %2;" : "=r"(own[6]) : "r"(a), "r"(threadIdx.x));
  asm("shr.u32 %0, %1, 7;" : "=r"(own[7]) : "r"(a));
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(own[8]) : "r"(a), "r"(b), "r"(threadIdx.x));
  asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(own[9]) : "r"(a), "r"(b), "r"(threadIdx.x));
  asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(own[10]) : "r"(a), "r"(b), "r"(c));
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(own[11]) : "r"(a), "r"(b), "r"(c), "n"(0x1c));
  asm("popc.b32 %0, %1;" : "=r"(own[12]) : "r"(a));
  asm("clz.b32 %0, %1;" : "=r"(own[13]) : "r"(a));
  asm("brev.b32 %0, %1;" : "=r"(own[14]) : "r"(a));
  asm("mov.u32 %0, %%laneid;" : "=r"(own[15]));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(own[16]));
  asm("{ xor.b32 %0, %1, %2; }" : "=r"(own[17]) : "r"(a), "r"(b));
  asm("bfind.u32 %0, %1;" : "=r"(own[18]) : "r"(a));
}

// Fields of bits and bytes, and words taken apart and put together.
__global__ void fields(unsigned int *out, const unsigned int *numbers) {
  unsigned int a = numbers[4 * threadIdx.x], b = numbers[4 * threadIdx.x + 1];
  unsigned int position = numbers[4 * threadIdx.x + 2], length = numbers[4 * threadIdx.x + 3];
  unsigned int *own = out + 13 * threadIdx.x;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(own[0]) : "r"(a), "r"(position), "r"(length));
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(own[1]) : "r"(a), "r"(position), "r"(length));
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(own[2]) : "r"(a), "r"(b), "r"(position), "r"(length));
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(own[3]) : "r"(a), "r"(b), "r"(position * 0x01010101u ^ length));
  asm("prmt.b32 %0, %1, %2, 0x3715;" : "=r"(own[4]) : "r"(a), "r"(b));
  asm("min.s32 %0, %1, %2;" : "=r"(own[5]) : "r"(a), "r"(b));
  asm("max.u32 %0, %1, %2;" : "=r"(own[6]) : "r"(a), "r"(b));
  unsigned long long wide, least;
  asm("mov.b64 %0, {%1, %2};" : "=l"(wide) : "r"(a), "r"(b));
  asm("min.s64 %0, %1, %2;" : "=l"(least) : "l"(wide), "l"(wide << 1));
  own[7] = (unsigned int)(least >> 32);
  own[8] = (unsigned int)wide;
  asm("mov.b64 {%0,%1}, %2;" : "=r"(own[9]), "=r"(own[10]) : "l"(wide * 3));
  unsigned short low, high;
  asm("mov.b32 {%0, %1}, %2;" : "=h"(low), "=h"(high) : "r"(a));
  asm("{ mov.b32 %0, {%1, %2}; }" : "=r"(own[11]) : "h"(high), "h"(low));
  asm("max.s64 %0, %1, %2;" : "=l"(least) : "l"(wide), "l"(wide << 1));
  own[12] = (unsigned int)(least >> 32);
}

// Half precision as its bits, in pairs too.
__global__ void halves(unsigned int *out, const unsigned int *pairs) {
  unsigned int a = pairs[3 * threadIdx.x], b = pairs[3 * threadIdx.x + 1], c = pairs[3 * threadIdx.x + 2];
  unsigned int *own = out + 8 * threadIdx.x;
  asm("add.f16x2 %0, %1, %2;" : "=r"(own[0]) : "r"(a), "r"(b));
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(own[1]) : "r"(a), "r"(b));
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(own[2]) : "r"(a), "r"(b), "r"(c));
  float x;
  uint16_t low = (uint16_t)a, back;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(low));
  own[3] = __float_as_uint(x);
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(back) : "f"(x * 1.0001f));
  own[4] = back;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(own[5]) : "f"(x * 1.0001f), "f"(-x));
  asm("ex2.approx.f16x2 %0, %1;" : "=r"(own[6]) : "r"(a & 0x3fff3fffu));
  asm("tanh.approx.f16 %0, %1;" : "=h"(back) : "h"(low));
  own[7] = back;
}

__global__ void approximations(float *out, const float *numbers) {
  float x = numbers[threadIdx.x], *own = out + 6 * threadIdx.x;
  asm volatile("tanh.approx.f32 %0, %1; " : "=f"(own[0]) : "f"(x));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(own[1]) : "f"(x));
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(own[2]) : "f"(x * x));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(own[3]) : "f"(x));
  asm("rsqrt.approx.ftz.f32 %0,%1;" : "=f"(own[4]) : "f"(x * x));
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(own[5]) : "f"(x), "f"(x), "f"(1.0f));
  asm volatile("prefetch.global.L2 [%0];" ::"l"(numbers));
}
