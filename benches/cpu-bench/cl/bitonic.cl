kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void bitonic(global const uint *x, global uint *y)
{
    local uint tile[512];
    uint t = get_local_id(0);
    size_t start = get_group_id(0) * 512;
    tile[t] = x[start + t];
    tile[t + 256] = x[start + t + 256];
    for (uint size = 2; size <= 512; size *= 2)
        for (uint stride = size / 2; stride > 0; stride /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint low = 2 * t - (t & (stride - 1));
            uint a = tile[low], b = tile[low + stride];
            if ((a > b) == ((low & size) == 0)) {
                tile[low] = b;
                tile[low + stride] = a;
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    y[start + t] = tile[t];
    y[start + t + 256] = tile[t + 256];
}
