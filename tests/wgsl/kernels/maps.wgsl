// Kernels with one invocation for each element.

@group(0) @binding(0) var<uniform> a: f32;
@group(0) @binding(1) var<storage> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn saxpy(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&y) {
        y[id.x] += a * x[id.x];
    }
}

@group(0) @binding(3) var<uniform> factors: vec4<f32>;
@group(0) @binding(4) var<storage> x4: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> y4: array<vec4<f32>>;

@compute @workgroup_size(32)
fn saxpy4(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&y4) {
        y4[id.x] += factors * x4[id.x];
    }
}

@group(0) @binding(6) var<storage> signed: array<i32>;
@group(0) @binding(7) var<storage> unsigned: array<u32>;
@group(0) @binding(8) var<storage, read_write> mixed: array<vec2<i32>>;

// Division by zero and of the least number by -1 has a value in WGSL.
@compute @workgroup_size(16)
fn integers(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if i < arrayLength(&mixed) {
        let quotient = signed[i] / i32(unsigned[i]);
        mixed[i] = vec2(quotient, signed[i] >> (unsigned[i] & 31u));
    }
}

@group(0) @binding(9) var<storage, read_write> steps: array<u32>;

@compute @workgroup_size(64)
fn collatz(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= arrayLength(&steps) {
        return;
    }
    var n = steps[id.x];
    var count = 0u;
    while n > 1u {
        if n % 2u == 0u {
            n = n / 2u;
        } else {
            n = 3u * n + 1u;
        }
        count += 1u;
    }
    steps[id.x] = count;
}

// Indices past the end stay within the buffer.
@compute @workgroup_size(64)
fn beyond(@builtin(global_invocation_id) id: vec3<u32>) {
    y[id.x + 1000000u] = x[id.x + 2000000u];
}

@group(0) @binding(10) var<storage, read_write> turned: array<i32>;

// Indices below zero are those of the last element too.
@compute @workgroup_size(64)
fn signed_indices(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = i32(id.x);
    let count = i32(arrayLength(&turned));
    if i >= count {
        return;
    }
    var squares: array<i32, 8>;
    for (var k = 0; k < 8; k++) {
        squares[k] = k * k;
    }
    turned[i] = signed[count - 1 - i] + squares[i - 4];
}

struct Boid {
    position: vec2<f32>,
    velocity: vec2<f32>,
}

// An array in a struct, as programs that draw write it, and a vertex shader in the file that needs what no kernel does.
struct Boids {
    all: array<Boid>,
}

@group(0) @binding(11) var<storage, read_write> boids: Boids;

@compute @workgroup_size(64)
fn move_boids(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= arrayLength(&boids.all) {
        return;
    }
    let boid = boids.all[id.x];
    boids.all[id.x].position = boid.position + unpack2x16float(pack2x16float(boid.velocity));
}

@fragment
fn samples(@builtin(sample_index) sample: u32) -> @location(0) vec4<f32> {
    return vec4(f32(sample));
}
