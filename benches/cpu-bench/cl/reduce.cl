kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void reduce(global const float *x, global float *sums)
{
    local float tile[256];
    uint t = get_local_id(0);
    tile[t] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_ = 128; half_ > 0; half_ /= 2) {
        if (t < half_)
            tile[t] += tile[t + half_];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        sums[get_group_id(0)] = tile[0];
}
