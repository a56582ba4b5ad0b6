kernel void stencil(uint width, uint height, global const float *x, global float *y)
{
    uint column = get_global_id(0), row = get_global_id(1);
    size_t here = (size_t)row * width + column;
    if (row == 0 || column == 0 || row + 1 >= height || column + 1 >= width) {
        y[here] = x[here];
        return;
    }
    size_t up = here - width, down = here + width;
    float corners = x[up - 1] + x[up + 1] + x[down - 1] + x[down + 1];
    float edges = x[up] + x[down] + x[here - 1] + x[here + 1];
    y[here] = 0.0625f * corners + 0.125f * edges + 0.25f * x[here];
}
