// The pull of all bodies, each a place and a mass, on each of them.
__global__ void cpp_nbody(unsigned n, float softening, const float (*__restrict__ bodies)[4],
                          float (*__restrict__ pulls)[3]) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float own_x = bodies[i][0], own_y = bodies[i][1], own_z = bodies[i][2];
  float x = 0, y = 0, z = 0;
  for (unsigned j = 0; j < n; j++) {
    float dx = bodies[j][0] - own_x, dy = bodies[j][1] - own_y, dz = bodies[j][2] - own_z;
    float inverse = 1 / sqrtf(dx * dx + dy * dy + dz * dz + softening);
    float pull = bodies[j][3] * inverse * inverse * inverse;
    x += dx * pull, y += dy * pull, z += dz * pull;
  }
  pulls[i][0] = x, pulls[i][1] = y, pulls[i][2] = z;
}
