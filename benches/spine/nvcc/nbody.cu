// examples/nbody/kernels/nbody.rs in CUDA C++.
constexpr unsigned TILE = 256;

struct Body {
    float x, y, z, mass;
};

struct Velocity {
    float x, y, z;
};

extern "C" __global__ void accelerate(float step, float softening, const Body *__restrict__ bodies,
                                      size_t bodies_len, Velocity *velocities, size_t velocities_len) {
    __shared__ Body tile[TILE];
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned t = threadIdx.x;
    Body nothing = {0.0f, 0.0f, 0.0f, 0.0f};
    Body own = i < bodies_len ? bodies[i] : nothing;
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (size_t start = 0; start < bodies_len; start += TILE) {
        tile[t] = start + t < bodies_len ? bodies[start + t] : nothing;
        __syncthreads();
        for (unsigned j = 0; j < TILE; ++j) {
            Body other = tile[j];
            float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float pull = other.mass * inverse * inverse * inverse;
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        __syncthreads();
    }
    if (i < velocities_len) {
        velocities[i].x += step * ax;
        velocities[i].y += step * ay;
        velocities[i].z += step * az;
    }
}
