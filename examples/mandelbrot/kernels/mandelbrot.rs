use kernelmill_device::prelude::*;

/// The part of the plane to draw, and how.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct View {
    /// The left edge of the picture.
    pub left: f32,
    /// The upper edge.
    pub top: f32,
    /// The distance of two samples.
    pub step: f32,
    /// Samples a pixel along each axis.
    pub samples: u32,
    /// Steps after which a point counts as one of the set.
    pub iterations: u32,
}

/// How fast a point flees, as a smooth number of steps; `None`: it is one of the set.
pub fn escape(x0: f32, y0: f32, iterations: u32) -> Option<f32> {
    let (mut x, mut y) = (0.0_f32, 0.0_f32);
    let (mut xx, mut yy) = (0.0_f32, 0.0_f32);
    let mut step = 0;
    // A radius far beyond 2 makes the number of steps smooth.
    while xx + yy < 4096.0 {
        if step == iterations {
            return None;
        }
        y = 2.0 * x * y + y0;
        x = xx - yy + x0;
        xx = x * x;
        yy = y * y;
        step += 1;
    }
    Some(step as f32 + 1.0 - (0.5 * (xx + yy).ln()).log2())
}

/// The colour of a number of steps: three waves that run through dark blue, white and amber.
pub fn colour(steps: f32) -> [f32; 3] {
    let phase = 0.2 * steps.sqrt();
    let wave = |shift: f32| 0.5 - 0.5 * (core::f32::consts::TAU * (phase + shift)).cos();
    let (red, green, blue) = (wave(0.0), wave(0.05), wave(0.16));
    [red * red, green * green, blue]
}

/// One pixel of rows of `width`, `0xAABBGGRR`.
#[kernel(dim = 2, width = width)]
pub fn mandelbrot(width: u32, view: View, mut image: DisjointSlice<u32, Index2D>) {
    let i = thread::index_2d();
    if let Some(pixel) = image.get_mut(i) {
        let mut sum = [0.0; 3];
        for sample in 0..view.samples * view.samples {
            let column = i.column() as u32 * view.samples + sample % view.samples;
            let row = i.row() as u32 * view.samples + sample / view.samples;
            let x = view.left + column as f32 * view.step;
            let y = view.top + row as f32 * view.step;
            if let Some(steps) = escape(x, y, view.iterations) {
                let [red, green, blue] = colour(steps);
                sum = [sum[0] + red, sum[1] + green, sum[2] + blue];
            }
        }
        let scale = 255.0 / (view.samples * view.samples) as f32;
        let [red, green, blue] = [sum[0] * scale, sum[1] * scale, sum[2] * scale];
        let byte = |value: f32| (value + 0.5) as u32;
        *pixel = 0xff00_0000 | byte(blue) << 16 | byte(green) << 8 | byte(red);
    }
}
