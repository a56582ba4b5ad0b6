kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void softmax(uint columns, global const float *x, global float *y)
{
    local float tile[256];
    uint t = get_local_id(0);
    size_t start = get_group_id(0) * columns;
    float most = -FLT_MAX;
    for (uint i = t; i < columns; i += 256)
        most = fmax(most, x[start + i]);
    tile[t] = most;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_ = 128; half_ > 0; half_ /= 2) {
        if (t < half_)
            tile[t] = fmax(tile[t], tile[t + half_]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    most = tile[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (uint i = t; i < columns; i += 256) {
        float value = exp(x[start + i] - most);
        y[start + i] = value;
        sum += value;
    }
    tile[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_ = 128; half_ > 0; half_ /= 2) {
        if (t < half_)
            tile[t] += tile[t + half_];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float scale = 1.0f / tile[0];
    for (uint i = t; i < columns; i += 256)
        y[start + i] *= scale;
}
