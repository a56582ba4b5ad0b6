kernel void strided(uint n, float a, global const float *x, global float *y)
{
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0))
        y[i] = a * x[i] + y[i];
}
