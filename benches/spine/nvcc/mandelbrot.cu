// examples/mandelbrot/kernels/mandelbrot.rs in CUDA C++.
struct View {
    float left, top, step;
    unsigned samples, iterations;
};

__device__ inline bool escape(float x0, float y0, unsigned iterations, float &steps) {
    float x = 0.0f, y = 0.0f, xx = 0.0f, yy = 0.0f;
    unsigned step = 0;
    while (xx + yy < 4096.0f) {
        if (step == iterations) return false;
        y = 2.0f * x * y + y0;
        x = xx - yy + x0;
        xx = x * x;
        yy = y * y;
        step += 1;
    }
    steps = (float)step + 1.0f - log2f(0.5f * logf(xx + yy));
    return true;
}

__device__ inline float wave(float phase, float shift) {
    return 0.5f - 0.5f * cosf(6.28318530717958647692f * (phase + shift));
}

__device__ inline unsigned byte(float value) { return (unsigned)(value + 0.5f); }

extern "C" __global__ void mandelbrot(unsigned width, View view, unsigned *image, size_t length) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    size_t place = (size_t)row * width + column;
    if (column >= width || place >= length) return;
    float red = 0.0f, green = 0.0f, blue = 0.0f;
    for (unsigned sample = 0; sample < view.samples * view.samples; ++sample) {
        unsigned sx = column * view.samples + sample % view.samples;
        unsigned sy = row * view.samples + sample / view.samples;
        float x = view.left + (float)sx * view.step;
        float y = view.top + (float)sy * view.step;
        float steps;
        if (escape(x, y, view.iterations, steps)) {
            float phase = 0.2f * sqrtf(steps);
            float r = wave(phase, 0.0f), g = wave(phase, 0.05f), b = wave(phase, 0.16f);
            red += r * r;
            green += g * g;
            blue += b;
        }
    }
    float scale = 255.0f / (float)(view.samples * view.samples);
    image[place] =
        0xff000000u | byte(blue * scale) << 16 | byte(green * scale) << 8 | byte(red * scale);
}
