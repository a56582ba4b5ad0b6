//! Pictures in 64 colours, and a PNG that is a film of them (APNG).

use crate::solver::SHADES;
use std::{error::Error, fs::File, io::BufWriter, path::Path};

/// Red, green and blue of each shade: from a light fluid through teal and amber to a dark one.
pub(crate) fn palette() -> Vec<[u8; 3]> {
    const STOPS: [[f32; 3]; 5] = [
        [250.0, 244.0, 220.0],
        [244.0, 178.0, 84.0],
        [214.0, 82.0, 72.0],
        [98.0, 40.0, 104.0],
        [16.0, 18.0, 48.0],
    ];
    let colour = |shade: u32| {
        let place = shade as f32 / (SHADES - 1) as f32 * (STOPS.len() - 1) as f32;
        let stop = (place as usize).min(STOPS.len() - 2);
        let part = place - stop as f32;
        let mix = |i: usize| (1.0 - part) * STOPS[stop][i] + part * STOPS[stop + 1][i];
        [0, 1, 2].map(|i| (mix(i) + 0.5) as u8)
    };
    (0..SHADES).map(colour).collect()
}

/// Writes pictures of shades, one after the other for `milliseconds` each, as one PNG.
pub(crate) fn write(
    path: &Path,
    [width, height]: [u32; 2],
    frames: &[Vec<u32>],
    milliseconds: u16,
) -> Result<(), Box<dyn Error>> {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), width, height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette().concat());
    encoder.set_compression(png::Compression::High);
    // Numbers of colours are no amounts, whose differences are small. After the compression, which sets a filter too.
    encoder.set_filter(png::Filter::NoFilter);
    encoder.set_animated(frames.len() as u32, 0)?;
    encoder.set_frame_delay(milliseconds, 1000)?;
    let mut writer = encoder.write_header()?;
    for frame in frames {
        let bytes: Vec<u8> = frame.iter().map(|&shade| shade as u8).collect();
        writer.write_image_data(&bytes)?;
    }
    Ok(writer.finish()?)
}
