//! Develops a picture by effects that are chosen when the program runs.

// The effects as functions of the host, to compare with.
#[expect(unreachable_pub, reason = "as they are in a crate of their own")]
#[path = "../kernels/effects.rs"]
mod effects;
mod kernels {
    kernelmill::include_kernels!();
}

use kernelmill::{Device, DeviceFn, Launch};
use kernels::{Functions, Kernels};
use std::{error::Error, fs::File, io::BufWriter, time::Instant};

const WIDTH: u32 = 640;
const HEIGHT: u32 = 400;

type Color = [f32; 3];

/// An effect: its name, what kernels are given, and the same on the host.
struct Effect {
    name: &'static str,
    on_device: DeviceFn<fn(Color, [f32; 2]) -> Color>,
    on_host: fn(Color, [f32; 2]) -> Color,
}

/// All there are.
fn effects() -> [Effect; 5] {
    let Functions { gray, negative, warm, contrast, vignette } = Kernels::functions();
    [
        Effect { name: "gray", on_device: gray, on_host: effects::gray },
        Effect { name: "negative", on_device: negative, on_host: effects::negative },
        Effect { name: "warm", on_device: warm, on_host: effects::warm },
        Effect { name: "contrast", on_device: contrast, on_host: effects::contrast },
        Effect { name: "vignette", on_device: vignette, on_host: effects::vignette },
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let chosen = chosen(std::env::args().skip(1))?;
    let device = Device::best()?;
    let picture = draw();
    let start = Instant::now();
    let developed = develop(&device, &chosen, &picture)?;
    let seconds = start.elapsed().as_secs_f64();
    compare(&chosen, &picture, &developed)?;
    write("dispatch.png", &developed)?;
    println!("dispatch: wrote dispatch.png");
    let names: Vec<_> = chosen.iter().map(|effect| effect.name).collect();
    println!(
        "dispatch: {WIDTH}x{HEIGHT} through {} in {:.1} ms on {}; {} pixels right",
        names.join(", "),
        1e3 * seconds,
        device.name(),
        developed.len(),
    );
    Ok(())
}

/// The effects of these names, all where there are none.
fn chosen(names: impl Iterator<Item = String>) -> Result<Vec<Effect>, String> {
    let find = |name: String| {
        let found = effects().into_iter().find(|effect| effect.name == name);
        found.ok_or_else(|| {
            let known = effects().map(|effect| effect.name).join(", ");
            format!("there is no effect `{name}`; these are: {known}")
        })
    };
    let chosen = names.map(find).collect::<Result<Vec<_>, _>>()?;
    Ok(if chosen.is_empty() { effects().into() } else { chosen })
}

fn develop(
    device: &Device,
    chosen: &[Effect],
    picture: &[Color],
) -> kernelmill::Result<Vec<Color>> {
    let kernels = Kernels::load(device)?;
    let table: Vec<_> = chosen.iter().map(|effect| effect.on_device).collect();
    let (table, pixels) = (device.upload(&table)?, device.upload(picture)?);
    let mut developed = device.zeros::<Color>(picture.len())?;
    let launch = Launch::<2>::grid([WIDTH.div_ceil(32), HEIGHT.div_ceil(4)], [32, 4]);
    kernels.develop(&device.stream(), launch, &table, WIDTH, HEIGHT, &pixels, &mut developed)?;
    developed.download()
}

/// Rings of changing colour.
fn draw() -> Vec<Color> {
    let ring = |x: f32, y: f32, phase: f32| 0.5 + 0.5 * (6.0 * x.hypot(y) + 2.0 * x + phase).sin();
    places().map(|[x, y]| [ring(x, y, 0.0), ring(x, y, 2.1), ring(x, y, 4.2)]).collect()
}

/// The place of each pixel, from -1 to 1.
fn places() -> impl Iterator<Item = [f32; 2]> {
    let across = |at: u32, side: u32| 2.0 * at as f32 / side as f32 - 1.0;
    (0..HEIGHT).flat_map(move |y| (0..WIDTH).map(move |x| [across(x, WIDTH), across(y, HEIGHT)]))
}

/// Compares with the effects on the host; devices may fuse a product and a sum.
fn compare(chosen: &[Effect], picture: &[Color], developed: &[Color]) -> Result<(), String> {
    for ((place, color), found) in places().zip(picture).zip(developed) {
        let expected = chosen.iter().fold(*color, |color, effect| (effect.on_host)(color, place));
        let is_near = |(found, expected): (&f32, &f32)| (found - expected).abs() < 1e-5;
        if !found.iter().zip(&expected).all(is_near) {
            return Err(format!("the pixel at {place:?} is {found:?} instead of {expected:?}"));
        }
    }
    Ok(())
}

fn write(path: &str, pixels: &[Color]) -> Result<(), Box<dyn Error>> {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let byte = |part: &f32| (255.0 * part.clamp(0.0, 1.0)).round() as u8;
    let bytes: Vec<u8> = pixels.iter().flatten().map(byte).collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&bytes)?;
    Ok(writer.finish()?)
}
