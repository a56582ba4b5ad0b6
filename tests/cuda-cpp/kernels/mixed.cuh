#pragma once
static __device__ unsigned int lane() {
  unsigned int id;
  asm("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}
