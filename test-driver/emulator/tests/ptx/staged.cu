// Reverses a block's values through an asynchronous copy to dynamic shared memory.
extern "C" __global__ void staged(const float4* in, float4* out) {
    extern __shared__ float4 buffer[];
    int t = threadIdx.x;
    unsigned p = __cvta_generic_to_shared(&buffer[t]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(p), "l"(in + t));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    out[t] = buffer[blockDim.x - 1 - t];
}
