// Kernels: functions that run on a device, once in each of many work-items.

/// Adds `a` times `x` to `y`, both of `n` elements.
kernel void saxpy(uint n, float a, global const float *x, global float *y) {
    uint i = get_global_id(0);
    if (i < n) {
        y[i] += a * x[i];
    }
}
