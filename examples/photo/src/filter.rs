//! The filters: a Gaussian blur, and the edges by Sobel's operator.

use crate::{kernels::Kernels, picture::Picture};
use kernelmill::{Device, Launch};

/// The standard deviation of the blur, in pixels.
const SIGMA: f32 = 4.0;
/// The largest distance of pixels that the blur mixes.
const RADIUS: usize = 12;

/// The weights of pixels at distances 0, 1, ... whose sum over both sides is 1.
pub(crate) fn weights() -> Vec<f32> {
    let bell = |distance: usize| (-0.5 * (distance as f32 / SIGMA).powi(2)).exp();
    let total: f32 = 2.0 * (0..=RADIUS).map(bell).sum::<f32>() - 1.0;
    (0..=RADIUS).map(|distance| bell(distance) / total).collect()
}

/// The blurred picture, and the edges of the sharp one.
pub(crate) fn filter(
    device: &Device,
    picture: &Picture,
) -> kernelmill::Result<(Vec<u32>, Vec<u32>)> {
    let kernels = Kernels::load(device)?;
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
