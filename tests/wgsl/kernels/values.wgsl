// Structs, matrices, and buffers of several groups.

struct Particle {
    position: vec3<f32>,
    mass: f32,
    velocity: vec3<f32>,
    hits: u32,
}

struct World {
    step: f32,
    gravity: vec3<f32>,
    floor: f32,
}

@group(0) @binding(0) var<uniform> world: World;
@group(0) @binding(1) var<storage, read_write> particles: array<Particle>;

@compute @workgroup_size(32)
fn fall(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= arrayLength(&particles) {
        return;
    }
    var it = particles[id.x];
    it.velocity += world.step * world.gravity;
    it.position += world.step * it.velocity;
    if it.position.y < world.floor {
        it.position.y = world.floor;
        it.velocity.y = -it.velocity.y;
        it.hits += 1u;
    }
    particles[id.x] = it;
}

@group(0) @binding(2) var<uniform> turn: mat4x4<f32>;
@group(0) @binding(3) var<storage, read_write> points: array<vec4<f32>>;

@compute @workgroup_size(64)
fn transform(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&points) {
        points[id.x] = turn * points[id.x];
    }
}

@group(0) @binding(4) var<storage> table: array<vec3<i32>, 5>;
@group(1) @binding(9) var<storage> places: array<u32>;
@group(1) @binding(2) var<uniform> offsets: array<vec4<i32>, 2>;
@group(3) @binding(0) var<storage, read_write> found: array<i32>;

@compute @workgroup_size(16)
fn look_up(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&found) {
        let entry = table[places[id.x] % 5u];
        found[id.x] = entry.x + 10 * entry.y + 100 * entry.z + offsets[id.x % 2u].w;
    }
}

// The settings say 8.
override TILE: u32;
override ROUND: bool = false;

@group(0) @binding(5) var<uniform> inner: u32;
@group(0) @binding(6) var<storage> left: array<f32>;
@group(0) @binding(7) var<storage> right: array<f32>;
@group(0) @binding(8) var<storage, read_write> product: array<f32>;

var<workgroup> left_tile: array<f32, TILE * TILE>;
var<workgroup> right_tile: array<f32, TILE * TILE>;

// A product of square matrices whose sides are multiples of TILE.
@compute @workgroup_size(TILE, TILE)
fn multiply(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    var sum = 0.0;
    for (var tile = 0u; tile < inner / TILE; tile++) {
        left_tile[local.y * TILE + local.x] = left[id.y * inner + tile * TILE + local.x];
        right_tile[local.y * TILE + local.x] = right[(tile * TILE + local.y) * inner + id.x];
        workgroupBarrier();
        for (var k = 0u; k < TILE; k++) {
            sum += left_tile[local.y * TILE + k] * right_tile[k * TILE + local.x];
        }
        workgroupBarrier();
    }
    product[id.y * inner + id.x] = select(sum, round(sum), ROUND);
}
