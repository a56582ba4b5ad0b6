use kernelmill_device::prelude::*;

/// How often each pixel's number can be squared before it leaves the circle, at most `limit`.
#[kernel(dim = 2, width = width)]
pub fn mandelbrot(width: u32, step: f32, limit: u32, mut out: DisjointSlice<u32, Index2D>) {
    let i = thread::index_2d();
    let Some(out) = out.get_mut(i) else { return };
    let (cx, cy) = (i.column() as f32 * step - 2.0, i.row() as f32 * step - 1.25);
    let (mut x, mut y, mut count) = (0.0_f32, 0.0_f32, 0);
    while count < limit && x * x + y * y <= 4.0 {
        (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
        count += 1;
    }
    *out = count;
}
