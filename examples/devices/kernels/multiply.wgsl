// c = a b on devices of Vulkan, in workgroups of 16 by 16 invocations, each with a tile of both matrices in workgroup
// memory: the kernel of multiply.cl.

const TILE = 16u;

@group(0) @binding(0) var<storage> a: array<f32>;
@group(0) @binding(1) var<storage> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> width: u32;
@group(0) @binding(4) var<uniform> inner: u32;

var<workgroup> of_a: array<array<f32, TILE>, TILE>;
var<workgroup> of_b: array<array<f32, TILE>, TILE>;

@compute @workgroup_size(TILE, TILE)
fn multiply_on_vulkan(
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(global_invocation_id) id: vec3<u32>,
) {
    var sum = 0.0;
    for (var tile = 0u; tile < inner; tile += TILE) {
        of_a[local.y][local.x] = a[id.y * inner + tile + local.x];
        of_b[local.y][local.x] = b[(tile + local.y) * width + id.x];
        workgroupBarrier();
        for (var k = 0u; k < TILE; k++) {
            sum += of_a[local.y][k] * of_b[k][local.x];
        }
        workgroupBarrier();
    }
    c[id.y * width + id.x] = sum;
}
