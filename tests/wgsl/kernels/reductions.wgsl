// Kernels with workgroup memory and barriers.

@group(0) @binding(0) var<storage> values: array<f32>;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;

var<workgroup> partial: array<f32, 128>;

@compute @workgroup_size(128)
fn group_sums(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    partial[local] = select(0.0, values[id.x], id.x < arrayLength(&values));
    workgroupBarrier();
    for (var width = 64u; width > 0u; width >>= 1u) {
        if local < width {
            partial[local] += partial[local + width];
        }
        workgroupBarrier();
    }
    if local == 0u {
        sums[group.x] = partial[0];
    }
}

@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

var<workgroup> first: array<u32, 64>;
var<workgroup> second: array<u32, 64>;

// An inclusive scan of each workgroup, after Hillis and Steele.
@compute @workgroup_size(64)
fn scan(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    first[local] = counts[id.x];
    workgroupBarrier();
    for (var step = 1u; step < 64u; step <<= 1u) {
        second[local] = first[local];
        if local >= step {
            second[local] += first[local - step];
        }
        workgroupBarrier();
        first[local] = second[local];
        workgroupBarrier();
    }
    counts[id.x] = first[local];
}

var<workgroup> untouched: array<u32, 64>;

// Workgroup memory begins as zeros.
@compute @workgroup_size(64)
fn zeroed(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    counts[id.x] = untouched[63u - local] + 7u;
    untouched[local] = 9u;
}
