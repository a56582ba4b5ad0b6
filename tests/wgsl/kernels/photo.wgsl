// Filters of a photograph with 8 bits for red, green, blue and alpha.

struct Size {
    width: u32,
    height: u32,
}

@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage> source: array<u32>;
@group(0) @binding(2) var<storage, read_write> filtered: array<u32>;

// The pixel at a place, or the nearest one of the picture.
fn pixel(x: i32, y: i32) -> vec4<u32> {
    let at = clamp(vec2(x, y), vec2(0), vec2(i32(size.width), i32(size.height)) - 1);
    return unpack4xU8(source[u32(at.y) * size.width + u32(at.x)]);
}

@compute @workgroup_size(8, 8)
fn blur(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= size.width || id.y >= size.height {
        return;
    }
    var sum = vec4<u32>();
    for (var dy = -1; dy <= 1; dy++) {
        for (var dx = -1; dx <= 1; dx++) {
            sum += pixel(i32(id.x) + dx, i32(id.y) + dy);
        }
    }
    filtered[id.y * size.width + id.x] = pack4xU8(sum / 9u);
}

@compute @workgroup_size(16, 4)
fn gray(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= size.width || id.y >= size.height {
        return;
    }
    let color = pixel(i32(id.x), i32(id.y));
    let level = (color.r * 77u + color.g * 150u + color.b * 29u) >> 8u;
    filtered[id.y * size.width + id.x] = pack4xU8(vec4(level, level, level, color.a));
}
