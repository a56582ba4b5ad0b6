//! A window with the fluid, which the mouse stirs.

use crate::{
    animation,
    kernels::Push,
    scene,
    solver::{Fluid, SCALE},
};
use kernelmill::Device;
use minifb::{Key, KeyRepeat, MouseButton, MouseMode, Window, WindowOptions};
use std::error::Error;

/// Steps of a second: as long as a second lasts, where the device is fast enough.
const STEPS_A_SECOND: usize = (1.0 / scene::STEP) as usize;

/// Shows the fluid until the window is closed: the left button stirs, the space bar turns gravity over, and R begins anew.
pub(crate) fn show(device: &Device, [width, height]: [u32; 2]) -> Result<(), Box<dyn Error>> {
    let (columns, rows) = ((width / SCALE) as usize, (height / SCALE) as usize);
    let options = WindowOptions { scale: minifb::Scale::X2, ..WindowOptions::default() };
    let mut window = Window::new("fluid", columns, rows, options)?;
    window.set_target_fps(STEPS_A_SECOND);
    let colours: Vec<u32> = animation::palette()
        .into_iter()
        .map(|[r, g, b]| u32::from_be_bytes([0, r, g, b]))
        .collect();
    let mut fluid = Fluid::new(device, width, height)?;
    let (mut gravity, mut mouse) = (scene::gravity(height), None);
    while window.is_open() && !window.is_key_down(Key::Escape) {
        if window.is_key_pressed(Key::R, KeyRepeat::No) {
            fluid = Fluid::new(device, width, height)?;
        }
        if window.is_key_pressed(Key::Space, KeyRepeat::No) {
            gravity.weight = -gravity.weight;
        }
        let is_down = window.get_mouse_down(MouseButton::Left);
        let place = window.get_mouse_pos(MouseMode::Clamp).filter(|_| is_down);
        let place = place.map(|(x, y)| [x * SCALE as f32, y * SCALE as f32]);
        fluid.step(scene::STEP, stir(gravity, mouse, place, height))?;
        mouse = place;
        let shades = fluid.paint(device, SCALE)?;
        let pixels: Vec<u32> = shades.iter().map(|&shade| colours[shade as usize]).collect();
        window.update_with_buffer(&pixels, columns, rows)?;
    }
    Ok(())
}

/// What pushes the fluid when the mouse went from one place to another with its button down.
fn stir(gravity: Push, from: Option<[f32; 2]>, to: Option<[f32; 2]>, height: u32) -> Push {
    let (Some(from), Some(to)) = (from, to) else { return gravity };
    // A part of the way, so that the fluid is as fast as the mouse after some steps.
    let part = 0.3 / scene::STEP;
    let velocity = [part * (to[0] - from[0]), part * (to[1] - from[1])];
    Push { centre: to, radius: height as f32 / 16.0, velocity, ..gravity }
}
