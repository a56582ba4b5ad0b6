//! Kernels that share tiles of their input in local memory.

use super::{On, assert_close, numbers};
use kernelmill::{Launch, Result};

fn picture(width: usize, height: usize) -> Vec<f32> {
    numbers((width * height) as u32).map(|x| (x % 256) as f32).collect()
}

pub(crate) fn five_points(on: &On<'_>) -> Result<()> {
    let (width, height) = (29, 18);
    let x = picture(width, height);
    let there = on.upload(&x)?;
    let mut out = on.device.zeros::<f32>(x.len())?;
    let launch = Launch::grid([4, 3], [8, 8]);
    // SAFETY: the sizes are those that the kernel is told.
    unsafe { on.kernels.five_points(&on.stream, launch, &there, &mut out, 29, 18) }?;
    let at = |x_at: isize, y_at: isize| {
        let x_at = x_at.clamp(0, width as isize - 1) as usize;
        x[y_at.clamp(0, height as isize - 1) as usize * width + x_at]
    };
    let expected: Vec<f32> = (0..(width * height) as isize)
        .map(|i| (i % width as isize, i / width as isize))
        .map(|(x, y)| {
            let sides = at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1);
            0.5 * at(x, y) + 0.125 * sides
        })
        .collect();
    assert_close(&out.download()?, &expected, 1e-6);
    Ok(())
}

pub(crate) fn convolve(on: &On<'_>) -> Result<()> {
    let x = picture(300, 1);
    let (there, gain) = (on.upload(&x)?, on.upload(&[1.0_f32, -2.0])?);
    let mut out = on.device.zeros::<f32>(300)?;
    // SAFETY: the length is the one that the kernel is told.
    unsafe { on.kernels.convolve(&on.stream, Launch::linear(300), &there, &mut out, 300, &gain) }?;
    let taps = [0.0625, 0.25, 0.375, 0.25, 0.0625];
    let expected: Vec<f32> = (0..300_usize)
        .map(|i| {
            let near = taps.iter().enumerate();
            let sum: f32 = near.map(|(k, tap)| tap * x[(i + k).saturating_sub(2).min(299)]).sum();
            sum * if i % 2 == 0 { 1.0 } else { -2.0 }
        })
        .collect();
    assert_close(&out.download()?, &expected, 1e-6);
    Ok(())
}

pub(crate) fn transpose(on: &On<'_>) -> Result<()> {
    let (width, height) = (21, 13);
    let x = picture(width, height);
    let there = on.upload(&x)?;
    let mut out = on.device.zeros::<f32>(x.len())?;
    let launch = Launch::grid([3, 2], [8, 8]);
    // SAFETY: the sizes are those that the kernel is told.
    unsafe { on.kernels.transpose(&on.stream, launch, &there, &mut out, 21, 13) }?;
    let turned = (0..x.len()).map(|i| x[i % height * width + i / height]);
    assert_eq!(out.download()?, turned.collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn product(on: &On<'_>) -> Result<()> {
    let n = 24;
    let (a, b) = (picture(n, n), picture(n, n).into_iter().rev().collect::<Vec<_>>());
    let (a_there, b_there) = (on.upload(&a)?, on.upload(&b)?);
    let mut c = on.device.zeros::<f32>(n * n)?;
    let launch = Launch::grid([3, 3], [8, 8]);
    // SAFETY: the sizes are those that the kernel is told.
    unsafe { on.kernels.product(&on.stream, launch, &a_there, &b_there, &mut c, 24) }?;
    let expected: Vec<f32> =
        (0..n * n).map(|i| (0..n).map(|k| a[i / n * n + k] * b[k * n + i % n]).sum()).collect();
    // The sums are of whole numbers below 2^24.
    assert_eq!(c.download()?, expected);
    Ok(())
}

pub(crate) fn reverse_rows(on: &On<'_>) -> Result<()> {
    let x = picture(48, 3);
    let there = on.upload(&x)?;
    let mut out = on.device.zeros::<f32>(x.len())?;
    let launch = Launch::grid([3], [48]);
    // SAFETY: local memory has a row.
    unsafe { on.kernels.reverse_rows(&on.stream, launch, &there, &mut out, 48) }?;
    let expected: Vec<f32> = x.chunks(48).flat_map(|row| row.iter().rev().copied()).collect();
    assert_eq!(out.download()?, expected);
    Ok(())
}
