// A kernel in WGSL: the driver is given its module when it is loaded.

@group(0) @binding(0) var<uniform> factor: u32;
@group(0) @binding(1) var<storage> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

@compute @workgroup_size(64)
fn add_scaled(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&y) {
        y[id.x] += factor * x[id.x];
    }
}
