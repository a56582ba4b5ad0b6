//! Blocks of threads that share memory, in CUDA C++, against plain Rust.

use crate::{checks::On, kernels::Filter};
use kernelmill::{Backend, Launch, Result};

/// Whole numbers below 100, in no order.
fn numbers(count: u32) -> Vec<u32> {
    (0..count).map(|i| (i.wrapping_mul(2_654_435_761).rotate_left(11) >> 7) % 100).collect()
}

fn integers(count: u32) -> Vec<i32> {
    numbers(count).into_iter().map(|it| it as i32).collect()
}

pub(crate) fn block_sums(on: &On<'_>) -> Result<()> {
    let all: Vec<f32> = numbers(1000).into_iter().map(|it| it as f32).collect();
    let (x, mut sums) = (on.device.upload(&all)?, on.device.zeros::<f32>(8)?);
    let launch = Launch::<1>::grid([8], [128]).shared_bytes(4 * 128);
    // SAFETY: there are as many elements as the last argument says, and a sum for each block.
    unsafe { on.kernels.block_sums(&on.stream, launch, &x, &mut sums, 1000) }?;
    let expected: Vec<f32> = all.chunks(128).map(|block| block.iter().sum()).collect();
    assert_eq!(sums.download()?, expected);
    Ok(())
}

pub(crate) fn reversed(on: &On<'_>) -> Result<()> {
    let all = integers(150);
    let (x, mut y) = (on.device.upload(&all)?, on.device.upload(&[-1; 192])?);
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.reversed(&on.stream, Launch::grid([3], [64]), &x, &mut y, 150) }?;
    let mut expected: Vec<i32> =
        all.chunks(64).flat_map(|block| block.iter().rev().copied()).collect();
    expected.resize(192, -1);
    assert_eq!(y.download()?, expected);
    Ok(())
}

/// Sums of whole numbers and halves, so that no order of them is rounded.
pub(crate) fn counted_together(on: &On<'_>) -> Result<()> {
    let all = numbers(1000);
    let (x, mut counts) = (on.device.upload(&all)?, on.device.zeros::<u32>(18)?);
    let (mut sums, mut wide) = (on.device.zeros::<f32>(3)?, on.device.zeros::<f64>(1)?);
    let launch = Launch::grid([3], [64]);
    // SAFETY: there are as many elements as the last argument says, 18 counts, and a sum for each block.
    unsafe {
        let (counts, sums, wide) = (&mut counts, &mut sums, &mut wide);
        on.kernels.counted_together(&on.stream, launch, &x, counts, sums, wide, 1000)
    }?;
    let mut expected = [0; 18];
    all.iter().for_each(|it| expected[*it as usize % 16] += 1);
    (expected[16], expected[17]) = (*all.iter().max().unwrap_or(&0), 1000 % 100);
    assert_eq!(counts.download()?, expected);
    let mut of_blocks = [0.0; 3];
    all.iter().enumerate().for_each(|(i, it)| of_blocks[i / 64 % 3] += *it as f32);
    assert_eq!(sums.download()?, of_blocks);
    assert_eq!(wide.download()?, [0.5 * f64::from(all.iter().sum::<u32>())]);
    Ok(())
}

pub(crate) fn together(on: &On<'_>) -> Result<()> {
    let all = integers(64);
    let (x, mut y) = (on.device.upload(&all)?, on.device.zeros::<i32>(64)?);
    // SAFETY: there is an element for each thread.
    unsafe { on.kernels.together(&on.stream, Launch::grid([1], [64]), &x, &mut y) }?;
    let of_one = |thread: usize| {
        let (warp, lane) = (&all[thread / 32 * 32..][..32], thread % 32);
        let votes = warp.iter().filter(|it| **it > 50).count() as i32;
        let next = warp[if lane % 8 == 7 { lane } else { lane + 1 }];
        let sum = warp.iter().sum::<i32>() + 10000 * votes + 1000 * next + warp[3];
        sum + i32::from(warp.contains(&0)) + 2 * i32::from(all.contains(&99))
    };
    assert_eq!(y.download()?, (0..64).map(of_one).collect::<Vec<_>>());
    Ok(())
}

/// Devices round mathematical functions each in their own way.
pub(crate) fn filtered(on: &On<'_>) -> Result<()> {
    const COUNT: usize = 500;
    let all: Vec<f32> = numbers(COUNT as u32).into_iter().map(|it| it as f32 / 8.0).collect();
    let (x, mut y) = (on.device.upload(&all)?, on.device.zeros::<f32>(COUNT)?);
    let filter = Filter { weights: [0.25, 0.5, -1.0], offset: 3 };
    let launch = Launch::linear(COUNT);
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.filtered(&on.stream, launch, filter, &x, &mut y, COUNT as i32) }?;
    for (i, found) in y.download()?.into_iter().enumerate() {
        let near = [0, 1, 2].map(|k| all[(i + k).saturating_sub(1).min(COUNT - 1)]);
        let sum = (0..3).fold(3.0, |sum, k| sum + filter.weights[k] * near[(i + k) % 3]);
        let expected = f64::from(sum).sin().exp() + f64::from(sum).abs().powf(0.25);
        assert!((f64::from(found) - expected).abs() < 1e-5, "{i}: {found}, not {expected}");
    }
    Ok(())
}

/// An assertion that fails before a barrier; what nvcc makes of one is the driver's to report.
pub(crate) fn positive(on: &On<'_>) -> Result<()> {
    let launch = Launch::grid([2], [32]);
    let mut y = on.device.zeros::<i32>(50)?;
    let mut all = vec![1; 50];
    let x = on.device.upload(&all)?;
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.positive(&on.stream, launch, &x, &mut y, 50) }?;
    assert_eq!(y.download()?, [8; 50]);
    if on.device.backend() == Backend::Cuda {
        return Ok(());
    }
    all[37] = -1;
    let (x, stream) = (on.device.upload(&all)?, on.device.new_stream()?);
    // SAFETY: as above.
    unsafe { on.kernels.positive(&stream, launch, &x, &mut y, 50) }?;
    let error = stream.synchronize().expect_err("an assertion has failed").to_string();
    for part in ["kernels/blocks.cu:77", "assertion failed: i >= n || x[i] > 0", "thread 5,0,0"] {
        assert!(error.contains(part), "{error}");
    }
    Ok(())
}

/// Quotients that there are, and two that an assertion is before: threads that have returned do not divide either. What nvcc makes
/// of an assertion is the driver's to report.
pub(crate) fn rounds(on: &On<'_>) -> Result<()> {
    let launch = Launch::grid([2], [32]);
    let quotients = [(7, 2), (-8, -1), (9, -1), (i32::MIN, 1), (i32::MIN + 1, i32::MIN), (-9, -4)];
    for (a, b) in quotients {
        let mut y = on.device.upload(&[-1; 64])?;
        // SAFETY: there are more elements than the last argument says.
        unsafe { on.kernels.rounds(&on.stream, launch, a, b, &mut y, 50) }?;
        let of_one = |i: i32| match i {
            50.. => -1,
            _ => a % b + (0..a / b).map(|round| i / 32 * 32 + round).sum::<i32>(),
        };
        assert_eq!(y.download()?, (0..64).map(of_one).collect::<Vec<_>>(), "{a} / {b}");
    }
    for (a, b) in [(5, 0), (i32::MIN, -1)] {
        if on.device.backend() == Backend::Cuda {
            break;
        }
        let (mut y, stream) = (on.device.zeros::<i32>(64)?, on.device.new_stream()?);
        // SAFETY: as above.
        unsafe { on.kernels.rounds(&stream, launch, a, b, &mut y, 50) }?;
        let error = stream.synchronize().expect_err("an assertion has failed").to_string();
        assert!(error.contains("assertion failed: b != 0"), "{a} / {b}: {error}");
    }
    Ok(())
}
