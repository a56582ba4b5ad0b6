//! A picture to filter when none is given: hills before an evening sky.

use crate::picture::Picture;

/// Draws the scene.
pub(crate) fn draw(width: u32, height: u32) -> Picture {
    let place = |i: u32| ((i % width) as f32 / width as f32, (i / width) as f32 / height as f32);
    let pixels = (0..width * height).map(|i| {
        let (x, y) = place(i);
        let [red, green, blue] = colour(x, y).map(|part| (part.clamp(0.0, 1.0) * 255.0) as u8);
        u32::from_le_bytes([red, green, blue, 255])
    });
    Picture { width, height, pixels: pixels.collect() }
}

fn colour(x: f32, y: f32) -> [f32; 3] {
    for (layer, shade) in [(2, 0.12), (1, 0.3), (0, 0.5)] {
        if y > ridge(x, layer) {
            return [shade * 0.6, shade * 0.7, shade];
        }
    }
    let (dx, dy) = (1.5 * (x - 0.7), y - 0.3);
    if dx * dx + dy * dy < 0.008 {
        return [1.0, 0.95, 0.75];
    }
    [0.3 + 0.7 * y, 0.35 + 0.35 * y, 0.7 - 0.2 * y]
}

/// The height of the hills of a layer above a point.
fn ridge(x: f32, layer: u32) -> f32 {
    let layer = layer as f32;
    let wave = |frequency: f32, size: f32| size * (frequency * x + 1.7 * layer).sin();
    0.5 + 0.15 * layer + wave(5.0, 0.05) + wave(13.0, 0.02) + wave(41.0, 0.006)
}
