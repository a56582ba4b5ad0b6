kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void scan(global const uint *x, global uint *y)
{
    local uint tile[256];
    uint t = get_local_id(0);
    uint sum = x[get_global_id(0)];
    tile[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < 256; step *= 2) {
        uint left = t >= step ? tile[t - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += left;
        tile[t] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[get_global_id(0)] = sum;
}
