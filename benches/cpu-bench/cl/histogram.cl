kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void histogram(uint count, global const uint *x, global uint *bins)
{
    local uint own[256];
    uint t = get_local_id(0);
    own[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0))
        atomic_inc(&own[x[i] % 256]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[t], own[t]);
}
