//! Blurs a photograph and finds its edges.

mod kernels {
    kernelmill::include_kernels!();
}
mod reference;
mod scene;

use image::{ImageBuffer, Rgba};
use kernelmill::{Device, Launch};
use std::{
    error::Error,
    path::{Path, PathBuf},
    time::Instant,
};

/// The standard deviation of the blur, in pixels.
const SIGMA: f32 = 4.0;
/// The largest distance of pixels that the blur mixes.
const RADIUS: usize = 12;

/// Pixels `0xAABBGGRR` in rows.
struct Picture {
    width: u32,
    height: u32,
    pixels: Vec<u32>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (picture, stem) = match std::env::args_os().nth(1) {
        Some(path) => (read(Path::new(&path))?, PathBuf::from(path).with_extension("")),
        None => (scene::draw(960, 640), PathBuf::from("photo")),
    };
    let device = Device::best()?;
    let start = Instant::now();
    let (blurred, edges) = filter(&device, &picture)?;
    let seconds = start.elapsed().as_secs_f64();
    let checked = reference::compare(&picture, &blurred, &edges)?;
    let (width, height) = (picture.width, picture.height);
    for (name, pixels) in [("blurred", blurred), ("edges", edges)] {
        let mut path = stem.clone().into_os_string();
        path.push(format!("-{name}.png"));
        write(Path::new(&path), width, height, &pixels)?;
        println!("photo: wrote {}", path.display());
    }
    println!(
        "photo: {width}x{height} blurred and its edges found in {:.1} ms on {}; {checked} pixels right",
        1e3 * seconds,
        device.name(),
    );
    Ok(())
}

/// The weights of pixels at distances 0, 1, ... whose sum over both sides is 1.
fn weights() -> Vec<f32> {
    let bell = |distance: usize| (-0.5 * (distance as f32 / SIGMA).powi(2)).exp();
    let total: f32 = 2.0 * (0..=RADIUS).map(bell).sum::<f32>() - 1.0;
    (0..=RADIUS).map(|distance| bell(distance) / total).collect()
}

/// The blurred picture, and the edges of the sharp one.
fn filter(device: &Device, picture: &Picture) -> kernelmill::Result<(Vec<u32>, Vec<u32>)> {
    let kernels = kernels::Kernels::load(device)?;
    let stream = device.stream();
    let (source, weights) = (device.upload(&picture.pixels)?, device.upload(&weights())?);
    let mut rows = device.zeros::<u32>(picture.pixels.len())?;
    let mut blurred = device.zeros::<u32>(picture.pixels.len())?;
    let mut edges = device.zeros::<u32>(picture.pixels.len())?;
    let (width, height) = (picture.width, picture.height);
    let lines = Launch::<2>::grid([width.div_ceil(128), height], [128, 1]);
    let tiles = Launch::<2>::grid([width.div_ceil(16), height.div_ceil(16)], [16, 16]);
    kernels.blur_rows(&stream, lines, width, &weights, &source, &mut rows)?;
    kernels.blur_columns(&stream, tiles, width, &weights, &rows, &mut blurred)?;
    kernels.sobel(&stream, tiles, width, &source, &mut edges)?;
    Ok((blurred.download()?, edges.download()?))
}

fn read(path: &Path) -> Result<Picture, Box<dyn Error>> {
    let image = image::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let image = image.into_rgba8();
    let pixels = image.pixels().map(|pixel| u32::from_le_bytes(pixel.0)).collect();
    Ok(Picture { width: image.width(), height: image.height(), pixels })
}

fn write(path: &Path, width: u32, height: u32, pixels: &[u32]) -> Result<(), Box<dyn Error>> {
    let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();
    let image = ImageBuffer::<Rgba<u8>, _>::from_raw(width, height, bytes)
        .ok_or("a picture has four bytes a pixel")?;
    Ok(image.save(path)?)
}
