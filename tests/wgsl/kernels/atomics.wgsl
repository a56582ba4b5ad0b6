// Atomic functions.

@group(0) @binding(0) var<storage> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>, 16>;

var<workgroup> own: array<atomic<u32>, 16>;

@compute @workgroup_size(64)
fn histogram(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if id.x < arrayLength(&data) {
        atomicAdd(&own[data[id.x] & 15u], 1u);
    }
    workgroupBarrier();
    if local < 16u {
        atomicAdd(&bins[local], atomicLoad(&own[local]));
    }
}

struct Extremes {
    least: atomic<i32>,
    greatest: atomic<i32>,
    exchanged: atomic<u32>,
}

@group(0) @binding(2) var<storage> numbers: array<i32>;
@group(0) @binding(3) var<storage, read_write> extremes: Extremes;

@compute @workgroup_size(32)
fn extremes_of(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&numbers) {
        atomicMin(&extremes.least, numbers[id.x]);
        atomicMax(&extremes.greatest, numbers[id.x]);
    }
    loop {
        let seen = atomicLoad(&extremes.exchanged);
        if atomicCompareExchangeWeak(&extremes.exchanged, seen, seen + 2u).exchanged {
            break;
        }
    }
}
