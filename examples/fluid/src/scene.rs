//! Heavy fluid above light fluid, and what pushes them.

use crate::kernels::Push;
use std::f32::consts::TAU;

/// Seconds of a step.
pub(crate) const STEP: f32 = 0.02;
/// How fast the heavy fluid would fall alone, in heights of the grid a second each second.
const GRAVITY: f32 = 0.5;

/// The dye at the start: 1 is heavy, 0 light. The border is wavy, or nothing would ever move.
pub(crate) fn dye(width: u32, height: u32) -> Vec<f32> {
    let border = |x: f32| {
        let waves = [(3.0, 0.0, 0.3), (7.0, 2.0, 0.4), (11.0, 1.0, 0.5), (17.0, 4.0, 0.3)];
        let sum: f32 =
            waves.iter().map(|(n, phase, size)| size * (TAU * n * x + phase).sin()).sum();
        0.5 + 0.012 * sum
    };
    let cell = |i: u32| {
        let (x, y) = (i % width, i / width);
        let border = height as f32 * border((x as f32 + 0.5) / width as f32);
        (border - y as f32).clamp(0.0, 1.0)
    };
    (0..width * height).map(cell).collect()
}

/// Gravity during a step.
pub(crate) fn gravity(height: u32) -> Push {
    let weight = GRAVITY * height as f32 * STEP;
    Push { weight, centre: [0.0; 2], radius: 1.0, velocity: [0.0; 2] }
}
