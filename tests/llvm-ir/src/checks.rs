//! What kernels compute, against plain Rust.

use crate::kernels::{Kernels, scan_pair, spir_pair};
use kernelmill::{Device, Launch, Result, Stream};

/// A device with the kernels.
pub(crate) struct On<'a> {
    pub(crate) device: &'a Device,
    pub(crate) kernels: &'a Kernels,
    pub(crate) stream: Stream,
}

/// Whole numbers below 100, in no order.
fn numbers(count: u32) -> Vec<f32> {
    let number = |i: u32| (i.wrapping_mul(2_654_435_761).rotate_left(11) >> 7) % 100;
    (0..count).map(|i| number(i) as f32).collect()
}

#[track_caller]
fn assert_close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(error <= 2e-5 * expected.abs().max(1.0), "{place}: {found}, not {expected}");
    }
}

pub(crate) fn saxpy(on: &On<'_>) -> Result<()> {
    let x = numbers(1000);
    let there = on.device.upload(&x)?;
    let mut y = on.device.upload(&[1.0_f32; 1000])?;
    // The settings have a contract, which makes the wrapper safe.
    on.kernels.saxpy(&on.stream, Launch::linear(1000), 3.0, &there, &mut y, 990)?;
    let expected: Vec<f32> =
        (0..).zip(&x).map(|(i, x)| if i < 990 { 3.0 * x + 1.0 } else { 1.0 }).collect();
    assert_eq!(y.download()?, expected);
    Ok(())
}

pub(crate) fn block_sums(on: &On<'_>) -> Result<()> {
    let x = numbers(512);
    let there = on.device.upload(&x)?;
    let mut sums = on.device.zeros::<f32>(4)?;
    let launch = Launch::grid([4], [128]);
    // SAFETY: there are four blocks of 128 elements.
    unsafe { on.kernels.block_sums(&on.stream, launch, &there, &mut sums) }?;
    let weighted = |(i, x): (usize, &f32)| x * [0.5, 1.0, 2.0, 4.0][i % 4];
    let sum = |block: &[f32]| block.iter().enumerate().map(weighted).sum::<f32>();
    assert_eq!(sums.download()?, x.chunks(128).map(sum).collect::<Vec<_>>());
    // The module says what blocks the kernel is for.
    // SAFETY: nothing is launched.
    let result =
        unsafe { on.kernels.block_sums(&on.stream, Launch::grid([4], [64]), &there, &mut sums) };
    let error = result.expect_err("a block of another size").to_string();
    assert!(error.contains("128"), "{error}");
    Ok(())
}

pub(crate) fn by_value(on: &On<'_>) -> Result<()> {
    for negate in [false, true] {
        let mut out = on.device.zeros::<f64>(1)?;
        // A factor of 2.5, a shift of -7, and in the last half-word 9.
        let shift = u64::from((-7_i32).cast_unsigned());
        let parameters = [2.5_f64.to_bits(), shift | 9 << 48];
        let launch = Launch::grid([1], [1]);
        // SAFETY: one thread writes the one element.
        unsafe {
            on.kernels.by_value(&on.stream, launch, parameters, [3.0, 4.0], negate, &mut out)
        }?;
        let expected = 2.5 * 12.0 - 7.0 + 9.0;
        assert_eq!(out.download()?, [if negate { -expected } else { expected }]);
    }
    Ok(())
}

pub(crate) fn reversed(on: &On<'_>) -> Result<()> {
    let x: Vec<u32> = (0..64).map(|i| i * i).collect();
    let mut there = on.device.upload(&x)?;
    // SAFETY: the block has as many threads as there are elements, here and in shared memory.
    unsafe { on.kernels.reversed(&on.stream, Launch::grid([1], [64]), 64, &mut there) }?;
    assert_eq!(there.download()?, x.into_iter().rev().collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn lanes(on: &On<'_>) -> Result<()> {
    let mut there = on.device.zeros::<u32>(64)?;
    // SAFETY: the block has as many threads as there are elements.
    unsafe { on.kernels.lanes(&on.stream, Launch::grid([1], [64]), &mut there) }?;
    assert_eq!(there.download()?, (0..64).map(|i| i % 32).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn amd_affine(on: &On<'_>) -> Result<()> {
    let x = numbers(1000);
    let there = on.device.upload(&x)?;
    let mut y = on.device.zeros::<f32>(1000)?;
    let parameters = [1.5_f32.to_bits(), (-3_i32).cast_unsigned()];
    // SAFETY: both buffers have 1000 elements.
    unsafe {
        on.kernels.amd_affine(
            &on.stream,
            Launch::grid([10], [100]),
            &there,
            &mut y,
            parameters,
            1000,
        )
    }?;
    assert_eq!(y.download()?, x.iter().map(|x| x * 1.5 - 3.0).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn amd_sums(on: &On<'_>) -> Result<()> {
    let x: Vec<f32> = numbers(500).into_iter().map(|x| x / 100.0).collect();
    let there = on.device.upload(&x)?;
    let mut sums = on.device.zeros::<f32>(2)?;
    let launch = Launch::grid([2], [256]);
    // SAFETY: there are 500 elements, and two blocks.
    unsafe { on.kernels.amd_sums(&on.stream, launch, &there, &mut sums, 500) }?;
    let expected: Vec<f32> =
        x.chunks(256).map(|block| block.iter().map(|x| x.exp()).sum()).collect();
    assert_close(&sums.download()?, &expected);
    Ok(())
}

pub(crate) fn cl_sums(on: &On<'_>) -> Result<()> {
    let x = numbers(500);
    let there = on.device.upload(&x)?;
    let weights = on.device.upload(&[1.0_f32, 2.0, 3.0, 4.0])?;
    let mut sums = on.device.zeros::<f32>(4)?;
    let launch = Launch::grid([4], [128]);
    // SAFETY: there are 500 elements, four groups, and 128 elements of local memory.
    unsafe { on.kernels.cl_sums(&on.stream, launch, &there, &weights, &mut sums, 128, 500) }?;
    let weighted = |(i, x): (usize, &f32)| x * (i % 4 + 1) as f32;
    let sum = |group: &[f32]| group.iter().enumerate().map(weighted).sum::<f32>();
    assert_eq!(sums.download()?, x.chunks(128).map(sum).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn cl_pairs(on: &On<'_>) -> Result<()> {
    let mut out = on.device.zeros::<f32>(64)?;
    let by = spir_pair { a: 2.5, b: -4 };
    let launch = Launch::grid([2], [32]);
    // SAFETY: there are as many elements as work-items.
    unsafe { on.kernels.cl_pairs(&on.stream, launch, &mut out, by, [1.0, 50.0, 50.0, 2.0]) }?;
    assert_eq!(out.download()?, (0..64).map(|i| -7.0 + i as f32).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn host_squares(on: &On<'_>) -> Result<()> {
    let x: Vec<f64> = numbers(300).into_iter().map(f64::from).collect();
    let there = on.device.upload(&x)?;
    let mut y = on.device.zeros::<f64>(300)?;
    // SAFETY: both buffers have 300 elements.
    unsafe { on.kernels.host_squares(&on.stream, Launch::linear(300), &there, &mut y, 300) }?;
    assert_eq!(y.download()?, x.iter().map(|x| x * x).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn cuda_scan(on: &On<'_>) -> Result<()> {
    let x: Vec<i32> = numbers(128).into_iter().map(|x| x as i32 - 50).collect();
    let there = on.device.upload(&x)?;
    let mut out = on.device.zeros::<i32>(128)?;
    // SAFETY: there are 128 elements.
    unsafe { on.kernels.cuda_scan(&on.stream, Launch::grid([1], [128]), &there, &mut out) }?;
    let sums = x.iter().scan(0, |sum, x| {
        *sum += x;
        Some(*sum)
    });
    assert_eq!(out.download()?, sums.collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn cuda_roots(on: &On<'_>) -> Result<()> {
    let x: Vec<f32> = numbers(300).into_iter().map(|x| x / 50.0).collect();
    let mut there = on.device.upload(&x)?;
    let by = scan_pair { first: 3, second: 0.5 };
    // SAFETY: there are 300 elements.
    unsafe { on.kernels.cuda_roots(&on.stream, Launch::grid([3], [128]), &mut there, by, 300) }?;
    assert_close(&there.download()?, &x.iter().map(|x| x.exp().sqrt() + 1.5).collect::<Vec<_>>());
    Ok(())
}
