//! Pictures in memory and in files.

use image::{ImageBuffer, Rgba};
use std::{error::Error, path::Path};

/// Pixels `0xAABBGGRR` in rows.
pub(crate) struct Picture {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) pixels: Vec<u32>,
}

pub(crate) fn read(path: &Path) -> Result<Picture, Box<dyn Error>> {
    let image = image::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let image = image.into_rgba8();
    let pixels = image.pixels().map(|pixel| u32::from_le_bytes(pixel.0)).collect();
    Ok(Picture { width: image.width(), height: image.height(), pixels })
}

pub(crate) fn write(
    path: &Path,
    width: u32,
    height: u32,
    pixels: &[u32],
) -> Result<(), Box<dyn Error>> {
    let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();
    let image = ImageBuffer::<Rgba<u8>, _>::from_raw(width, height, bytes)
        .ok_or("a picture has four bytes a pixel")?;
    Ok(image.save(path)?)
}
