kernel void nbody(float softening, uint count, global const float *bodies, global float *pulls)
{
    size_t i = get_global_id(0);
    float ox = bodies[4 * i], oy = bodies[4 * i + 1], oz = bodies[4 * i + 2];
    float x = 0, y = 0, z = 0;
    for (uint j = 0; j < count; ++j) {
        float dx = bodies[4 * j] - ox, dy = bodies[4 * j + 1] - oy, dz = bodies[4 * j + 2] - oz;
        float inverse = 1.0f / sqrt(dx * dx + dy * dy + dz * dz + softening);
        float pull = bodies[4 * j + 3] * inverse * inverse * inverse;
        x += dx * pull;
        y += dy * pull;
        z += dz * pull;
    }
    pulls[3 * i] = x;
    pulls[3 * i + 1] = y;
    pulls[3 * i + 2] = z;
}
