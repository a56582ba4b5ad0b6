// Kernels: functions that run on a device, once in each of many invocations.

@group(0) @binding(0) var<uniform> a: f32;
@group(0) @binding(1) var<storage> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

/// Adds `a` times `x` to `y`.
@compute @workgroup_size(64)
fn saxpy(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&y) {
        y[id.x] += a * x[id.x];
    }
}
