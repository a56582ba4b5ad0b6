//! Some pixels computed again by plain Rust.

use crate::kernels::View;
use std::error::Error;

/// The number of pixels compared.
const SAMPLES: usize = 2000;

/// Compares pixels spread over the picture; the number of those that are right.
///
/// The border of the set is chaotic: a last bit that a device rounds otherwise (a fused
/// multiply-add) can change a pixel there, so one in fifty may differ.
pub(crate) fn compare(pixels: &[u32], width: u32, view: View) -> Result<usize, Box<dyn Error>> {
    let stride = (pixels.len() / SAMPLES).max(1);
    let places: Vec<usize> = (0..pixels.len()).step_by(stride).collect();
    let right = places.iter().filter(|&&place| {
        let expected = pixel(place as u32 % width, place as u32 / width, view).to_le_bytes();
        let actual = pixels[place].to_le_bytes();
        actual.iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= 2)
    });
    let right = right.count();
    if right * 50 < places.len() * 49 {
        return Err(format!("only {right} of {} pixels are right", places.len()).into());
    }
    Ok(right)
}

fn pixel(column: u32, row: u32, view: View) -> u32 {
    let mut sum = [0.0_f32; 3];
    for sample in 0..view.samples * view.samples {
        let x = (column * view.samples + sample % view.samples) as f32;
        let y = (row * view.samples + sample / view.samples) as f32;
        let colour = colour(view.left + x * view.step, view.top + y * view.step, view.iterations);
        sum.iter_mut().zip(colour).for_each(|(sum, part)| *sum += part);
    }
    let scale = 255.0 / (view.samples * view.samples) as f32;
    let [red, green, blue] = sum.map(|part| (part * scale + 0.5) as u8);
    u32::from_le_bytes([red, green, blue, 255])
}

fn colour(x0: f32, y0: f32, iterations: u32) -> [f32; 3] {
    let (mut x, mut y, mut step) = (0.0_f32, 0.0_f32, 0);
    while x * x + y * y < 4096.0 {
        if step == iterations {
            return [0.0; 3];
        }
        (x, y) = ((x * x - y * y) + x0, 2.0 * x * y + y0);
        step += 1;
    }
    let smooth = step as f32 + 1.0 - (0.5 * (x * x + y * y).ln()).log2();
    let phase = 0.2 * smooth.sqrt();
    let wave = |shift: f32| 0.5 - 0.5 * (std::f32::consts::TAU * (phase + shift)).cos();
    [wave(0.0).powi(2), wave(0.05).powi(2), wave(0.16)]
}
