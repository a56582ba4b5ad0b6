// A 16 by 8 product on tensor cores, its operands loaded by ldmatrix.
#include <cuda_fp16.h>
extern "C" __global__ void tensor(const __half* a, const __half* b, float* c) {
    __shared__ __half sa[16 * 16], sb[16 * 8];
    int t = threadIdx.x;
#pragma unroll 1
    for (int i = t; i < 256; i += 32) sa[i] = a[i];
#pragma unroll 1
    for (int i = t; i < 128; i += 32) sb[i] = b[i];
    __syncthreads();
    unsigned r[4], q[2];
    unsigned pa = __cvta_generic_to_shared(&sa[(t % 16) * 16 + (t / 16) * 8]);
    unsigned pb = __cvta_generic_to_shared(&sb[(t % 16) * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(q[0]), "=r"(q[1]) : "r"(pb));
    float d[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(q[0]), "r"(q[1]));
    int g = t / 4, k = t % 4 * 2;
    c[g * 8 + k] = d[0];
    c[g * 8 + k + 1] = d[1];
    c[(g + 8) * 8 + k] = d[2];
    c[(g + 8) * 8 + k + 1] = d[3];
}
