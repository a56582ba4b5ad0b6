//! Some pixels computed again by plain Rust.

use crate::{filter::weights, picture::Picture};
use std::error::Error;

/// Compares pixels spread over both results; the number of pixels compared.
///
/// Rounding to a byte after each pass lets a result differ by one or two levels.
pub(crate) fn compare(
    picture: &Picture,
    blurred: &[u32],
    edges: &[u32],
) -> Result<usize, Box<dyn Error>> {
    let weights = weights();
    let stride = (picture.pixels.len() / 3000).max(1);
    let places: Vec<usize> = (0..picture.pixels.len()).step_by(stride).collect();
    for &place in &places {
        let (x, y) =
            (place as i64 % i64::from(picture.width), place as i64 / i64::from(picture.width));
        let expected = blur(picture, &weights, x, y);
        let actual = blurred[place].to_le_bytes();
        let near = (0..3).all(|part| (f32::from(actual[part]) - expected[part]).abs() <= 1.6);
        if !near {
            return Err(format!("blur at ({x}, {y}): {actual:?} instead of {expected:?}").into());
        }
        let (expected, actual) = (edge(picture, x, y), edges[place] & 255);
        if (actual as f32 - expected).abs() > 1.0 {
            return Err(format!("edge at ({x}, {y}): {actual} instead of {expected}").into());
        }
    }
    Ok(2 * places.len())
}

/// The pixel at a place, or the nearest one to a place outside.
fn pixel(picture: &Picture, x: i64, y: i64) -> [f32; 3] {
    let x = x.clamp(0, i64::from(picture.width) - 1);
    let y = y.clamp(0, i64::from(picture.height) - 1);
    let bytes = picture.pixels[(y * i64::from(picture.width) + x) as usize].to_le_bytes();
    [bytes[0], bytes[1], bytes[2]].map(f32::from)
}

fn blur(picture: &Picture, weights: &[f32], x: i64, y: i64) -> [f32; 3] {
    let radius = weights.len() as i64 - 1;
    let mut sum = [0.0; 3];
    for dy in -radius..=radius {
        for dx in -radius..=radius {
            let weight = weights[dx.unsigned_abs() as usize] * weights[dy.unsigned_abs() as usize];
            let part = pixel(picture, x + dx, y + dy);
            (0..3).for_each(|i| sum[i] += weight * part[i]);
        }
    }
    sum
}

fn edge(picture: &Picture, x: i64, y: i64) -> f32 {
    let at = |dx: i64, dy: i64| {
        let [red, green, blue] = pixel(picture, x + dx, y + dy);
        0.299 * red + 0.587 * green + 0.114 * blue
    };
    let across = at(1, -1) + 2.0 * at(1, 0) + at(1, 1) - at(-1, -1) - 2.0 * at(-1, 0) - at(-1, 1);
    let down = at(-1, 1) + 2.0 * at(0, 1) + at(1, 1) - at(-1, -1) - 2.0 * at(0, -1) - at(1, -1);
    across.hypot(down).min(255.0).round()
}
