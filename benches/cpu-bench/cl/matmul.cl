kernel void matmul_16x16(uint n, global const float *a, global const float *b, global float *c)
{
    local float A[256], B[256];
    uint x = get_local_id(0), y = get_local_id(1);
    uint column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (uint start = 0; start < n; start += 16) {
        A[y * 16 + x] = a[row * n + start + x];
        B[y * 16 + x] = b[(start + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < 16; ++k)
            sum += A[y * 16 + k] * B[k * 16 + x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}

kernel void matmul_32x8(uint n, global const float *a, global const float *b, global float *c)
{
    local float A[1024], B[1024];
    uint x = get_local_id(0), y = get_local_id(1);
    uint left = get_group_id(0) * 32, top = get_group_id(1) * 32;
    float sums[4] = {0, 0, 0, 0};
    for (uint start = 0; start < n; start += 32) {
        for (uint part = 0; part < 4; ++part) {
            uint row = y + 8 * part;
            A[row * 32 + x] = a[(top + row) * n + start + x];
            B[row * 32 + x] = b[(start + row) * n + left + x];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < 32; ++k)
            for (uint part = 0; part < 4; ++part)
                sums[part] += A[(y + 8 * part) * 32 + k] * B[k * 32 + x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint part = 0; part < 4; ++part)
        c[(top + y + 8 * part) * n + left + x] = sums[part];
}
