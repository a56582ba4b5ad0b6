//! What can be done to a pixel. There is no kernel here: `develop` is given these functions.

use kernelmill_device::prelude::*;

/// How bright a colour looks.
fn brightness([red, green, blue]: [f32; 3]) -> f32 {
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// Each part between a colour's own and another's.
fn mix(from: [f32; 3], to: [f32; 3], share: f32) -> [f32; 3] {
    core::array::from_fn(|i| from[i] + share * (to[i] - from[i]))
}

/// Without colour.
#[device_fn]
pub fn gray(color: [f32; 3], _place: [f32; 2]) -> [f32; 3] {
    [brightness(color); 3]
}

/// The opposite of each colour.
#[device_fn]
pub fn negative(color: [f32; 3], _place: [f32; 2]) -> [f32; 3] {
    color.map(|part| 1.0 - part)
}

/// As in the light of the evening.
#[device_fn]
pub fn warm([red, green, blue]: [f32; 3], _place: [f32; 2]) -> [f32; 3] {
    [(1.15 * red).min(1.0), green, 0.8 * blue]
}

/// Dark parts darker, bright ones brighter: a smooth step.
#[device_fn]
pub fn contrast(color: [f32; 3], _place: [f32; 2]) -> [f32; 3] {
    color.map(|part| part * part * (3.0 - 2.0 * part))
}

/// Darker towards the corners.
#[device_fn]
pub fn vignette(color: [f32; 3], [x, y]: [f32; 2]) -> [f32; 3] {
    mix(color, [0.0; 3], (0.5 * (x * x + y * y)).min(1.0))
}
