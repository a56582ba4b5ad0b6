//! Draws the Mandelbrot set on the best device, and says which binaries are embedded and which
//! one ran.

mod kernels;
mod reference;

use clap::{Parser, ValueEnum};
use kernelmill::{Device, Launch};
use kernels::{Kernels, View};
use std::{
    error::Error,
    fs::File,
    io::BufWriter,
    path::{Path, PathBuf},
    time::Instant,
};

/// Draws the Mandelbrot set.
#[derive(Parser)]
struct Arguments {
    /// The file to write.
    #[arg(long, default_value = "mandelbrot.png")]
    out: PathBuf,
    /// Width and height in pixels, `1920x1080`, or one number for both.
    #[arg(long, default_value = "1600x1000", value_parser = parse_size)]
    size: [u32; 2],
    /// The device to draw on.
    #[arg(long, value_enum, default_value_t = Choice::Best)]
    device: Choice,
    /// Steps after which a point counts as one of the set.
    #[arg(long, default_value_t = 1000)]
    iterations: u32,
    /// Samples a pixel along each axis.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=8))]
    samples: u32,
    /// The middle of the picture.
    #[arg(long, default_value = "-0.7487,0.108", value_parser = parse_point, allow_hyphen_values = true)]
    centre: [f32; 2],
    /// The width of the part of the plane that is drawn.
    #[arg(long, default_value_t = 0.02)]
    width: f32,
}

#[derive(Clone, Copy, ValueEnum)]
enum Choice {
    /// The processor.
    Cpu,
    /// The first NVIDIA device.
    Cuda,
    /// The best device that is there.
    Best,
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let (width, height) = text.split_once('x').unwrap_or((text, text));
    let number = |text: &str| match text.parse() {
        Ok(number @ 1..=32_768) => Ok(number),
        _ => Err(format!("`{text}` is no size: write `1600x1000` or `1000`, at most 32768")),
    };
    Ok([number(width)?, number(height)?])
}

fn parse_point(text: &str) -> Result<[f32; 2], String> {
    let parts = text.split_once(',').ok_or("write two numbers with a comma between them")?;
    let number = |text: &str| text.trim().parse().map_err(|error| format!("`{text}`: {error}"));
    Ok([number(parts.0)?, number(parts.1)?])
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let device = match arguments.device {
        Choice::Cpu => Device::cpu()?,
        Choice::Cuda => Device::cuda(0)?,
        Choice::Best => Device::best()?,
    };
    let kernels = Kernels::load(&device)?;
    for binary in Kernels::embedded() {
        println!("embedded: {binary}");
    }
    for choice in kernels.chosen() {
        println!("chosen: {choice}");
    }
    let view = view(&arguments);
    let (pixels, seconds) = draw(&device, &kernels, arguments.size, view)?;
    let [width, height] = arguments.size;
    let checked = reference::compare(&pixels, width, view)?;
    write(&arguments.out, width, height, &pixels)
        .map_err(|error| format!("{}: {error}", arguments.out.display()))?;
    println!(
        "mandelbrot: {width}x{height} to {} on {}: {:.2e} pixels a second; {checked} pixels checked",
        arguments.out.display(),
        device.name(),
        pixels.len() as f64 / seconds,
    );
    Ok(())
}

fn view(arguments: &Arguments) -> View {
    let [width, height] = arguments.size.map(|size| (size * arguments.samples) as f32);
    let step = arguments.width / width;
    View {
        left: arguments.centre[0] - 0.5 * width * step,
        top: arguments.centre[1] - 0.5 * height * step,
        step,
        samples: arguments.samples,
        iterations: arguments.iterations,
    }
}

/// The pixels, and how many seconds the launch took. A launch with one step goes before it, so that
/// threads and modules are up.
fn draw(
    device: &Device,
    kernels: &Kernels,
    [width, height]: [u32; 2],
    view: View,
) -> kernelmill::Result<(Vec<u32>, f64)> {
    let stream = device.stream();
    let mut image = device.zeros::<u32>(width as usize * height as usize)?;
    let launch = Launch::<2>::grid([width.div_ceil(16), height.div_ceil(16)], [16, 16]);
    let warm_up = View { iterations: 1, ..view };
    kernels.mandelbrot(&stream, launch, width, warm_up, &mut image)?;
    stream.synchronize()?;
    let start = Instant::now();
    kernels.mandelbrot(&stream, launch, width, view, &mut image)?;
    stream.synchronize()?;
    let seconds = start.elapsed().as_secs_f64();
    Ok((image.download()?, seconds))
}

/// Writes pixels `0xAABBGGRR` as a PNG.
fn write(path: &Path, width: u32, height: u32, pixels: &[u32]) -> Result<(), Box<dyn Error>> {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&bytes)?;
    Ok(writer.finish()?)
}
