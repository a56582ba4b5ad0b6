//! Heavy fluid above light fluid: a film of how they trade places, or a window in which the mouse stirs them.

mod animation;
mod check;
mod kernels;
mod reference;
mod scene;
mod solver;
#[cfg(test)]
mod tests;
#[cfg(feature = "window")]
mod window;

use clap::Parser;
use kernelmill::Device;
use solver::{Fluid, SCALE};
use std::{error::Error, path::PathBuf, time::Instant};

/// Milliseconds that a frame of the film is shown.
const FRAME: u16 = 80;

/// Simulates a heavy fluid above a light one.
#[derive(Parser)]
struct Arguments {
    /// The film to write, a PNG that moves.
    #[arg(long, default_value = "fluid.png")]
    output: PathBuf,
    /// Columns and rows of the grid, each an even number of at least 32.
    #[arg(long, default_value = "512x320", value_parser = parse_size)]
    size: [u32; 2],
    /// Pictures of the film.
    #[arg(long, default_value_t = 45, value_parser = clap::value_parser!(u32).range(1..=1000))]
    frames: u32,
    /// Steps between two pictures, of a 50th of a second each.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=100))]
    steps: u32,
    /// Shows the fluid in a window instead, in which the mouse stirs it.
    #[cfg(feature = "window")]
    #[arg(long)]
    window: bool,
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let (width, height) = text.split_once('x').ok_or("write `512x320`")?;
    let number = |text: &str| match text.parse::<u32>() {
        Ok(number @ 32..=8192) if number.is_multiple_of(SCALE) => Ok(number),
        _ => Err(format!("`{text}` is no even number from 32 to 8192")),
    };
    Ok([number(width)?, number(height)?])
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let device = Device::best()?;
    let [velocity, dye] = check::compare(&device)?;
    println!(
        "fluid: {} steps as in plain Rust, velocity to {velocity:.0e}, dye to {dye:.0e}, on {}",
        check::STEPS,
        device.name(),
    );
    #[cfg(feature = "window")]
    if arguments.window {
        return window::show(&device, arguments.size);
    }
    film(&device, &arguments)
}

/// Simulates, checks what a fluid keeps, and writes the film.
fn film(device: &Device, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let [width, height] = arguments.size;
    let mut fluid = Fluid::new(device, width, height)?;
    let mass = fluid.fields()?.mass();
    let mut frames = vec![fluid.paint(device, SCALE)?];
    let mut seconds = 0.0;
    for _ in 1..arguments.frames {
        let start = Instant::now();
        for _ in 0..arguments.steps {
            fluid.step(scene::STEP, scene::gravity(height))?;
        }
        fluid.wait()?;
        seconds += start.elapsed().as_secs_f64();
        frames.push(fluid.paint(device, SCALE)?);
    }
    let fields = fluid.fields()?;
    let change = check::conserved(mass, width, &fields)?;
    let steps = (arguments.frames - 1) * arguments.steps;
    let [before, left] = fields.divergence(width);
    println!(
        "fluid: {width}x{height} cells, {steps} steps, {:.1} ms a step, now {:.0} cells a second",
        1e3 * seconds / f64::from(steps.max(1)),
        fields.speed(),
    );
    println!(
        "fluid: mass changed by {:+.2} %, divergence in a step from {before:.1e} to {left:.1e} / s",
        100.0 * change,
    );
    animation::write(&arguments.output, [width / SCALE, height / SCALE], &frames, FRAME)
        .map_err(|error| format!("{}: {error}", arguments.output.display()))?;
    println!("fluid: wrote {}, {} pictures", arguments.output.display(), frames.len());
    Ok(())
}
