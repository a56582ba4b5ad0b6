kernel void mandelbrot(uint width, float step, uint limit, global uint *out)
{
    size_t column = get_global_id(0), row = get_global_id(1);
    float cx = column * step - 2.0f, cy = row * step - 1.25f;
    float x = 0, y = 0;
    uint count = 0;
    while (count < limit && x * x + y * y <= 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        ++count;
    }
    out[row * width + column] = count;
}
