kernel void gather(global const uint *places, global const float *x, global float *y)
{
    size_t i = get_global_id(0);
    y[i] = x[places[i]];
}
