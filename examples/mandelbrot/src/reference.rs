//! Some pixels computed again by plain Rust.

use crate::kernels::View;
use std::error::Error;

/// The number of pixels compared.
const SAMPLES: usize = 2000;

/// How `a * b + c` is rounded: once, as by a fused operation, or twice.
type MultiplyAdd = fn(f32, f32, f32) -> f32;

const FUSED: MultiplyAdd = |a, b, c| a.mul_add(b, c);
const APART: MultiplyAdd = |a, b, c| a * b + c;

/// Compares pixels spread over the picture; the number of those that were compared.
///
/// The border of the set is chaotic: there the last bit that one device rounds otherwise than
/// another decides the colour. So a pixel is compared where both ways to round `a * b + c` give the
/// same colour on the host, and among those one in fifty may differ: a device
/// may fuse some and not others.
pub(crate) fn compare(pixels: &[u32], width: u32, view: View) -> Result<usize, Box<dyn Error>> {
    let stride = (pixels.len() / SAMPLES).max(1);
    let (mut compared, mut wrong) = (0, 0);
    for place in (0..pixels.len()).step_by(stride) {
        let (column, row) = (place as u32 % width, place as u32 / width);
        let [apart, fused] = [APART, FUSED].map(|rule| pixel(column, row, view, rule));
        if alike(apart, fused) {
            compared += 1;
            wrong += usize::from(!alike(pixels[place], apart));
        }
    }
    if wrong * 50 > compared || compared * 3 < SAMPLES.min(pixels.len()) {
        return Err(format!("{wrong} of {compared} pixels are wrong").into());
    }
    Ok(compared)
}

/// Whether two colours differ by two steps a channel at most.
fn alike(left: u32, right: u32) -> bool {
    let (left, right) = (left.to_le_bytes(), right.to_le_bytes());
    left.iter().zip(right).all(|(a, b)| a.abs_diff(b) <= 2)
}

fn pixel(column: u32, row: u32, view: View, rule: MultiplyAdd) -> u32 {
    let mut sum = [0.0_f32; 3];
    for sample in 0..view.samples * view.samples {
        let x = (column * view.samples + sample % view.samples) as f32;
        let y = (row * view.samples + sample / view.samples) as f32;
        let (x, y) = (rule(x, view.step, view.left), rule(y, view.step, view.top));
        let colour = colour(x, y, view.iterations, rule);
        sum.iter_mut().zip(colour).for_each(|(sum, part)| *sum += part);
    }
    let scale = 255.0 / (view.samples * view.samples) as f32;
    let [red, green, blue] = sum.map(|part| (part * scale + 0.5) as u8);
    u32::from_le_bytes([red, green, blue, 255])
}

fn colour(x0: f32, y0: f32, iterations: u32, rule: MultiplyAdd) -> [f32; 3] {
    let (mut x, mut y, mut step) = (0.0_f32, 0.0_f32, 0);
    while x * x + y * y < 4096.0 {
        if step == iterations {
            return [0.0; 3];
        }
        (x, y) = (rule(x, x, -(y * y)) + x0, rule(2.0 * x, y, y0));
        step += 1;
    }
    let smooth = step as f32 + 1.0 - (0.5 * (x * x + y * y).ln()).log2();
    let phase = 0.2 * smooth.sqrt();
    let wave = |shift: f32| 0.5 - 0.5 * (std::f32::consts::TAU * (phase + shift)).cos();
    [wave(0.0).powi(2), wave(0.05).powi(2), wave(0.16)]
}
