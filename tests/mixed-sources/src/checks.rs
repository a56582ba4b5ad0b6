//! What kernels compute, against plain Rust.

use crate::kernels::Kernels;
use kernelmill::{Device, Launch, Result, Stream};

/// A device with the kernels.
pub(crate) struct On<'a> {
    pub(crate) device: &'a Device,
    pub(crate) kernels: &'a Kernels,
    pub(crate) stream: Stream,
}

const COUNT: u32 = 1000;
const LENGTH: usize = COUNT as usize;

/// Whole numbers below 100, in no order.
fn numbers() -> Vec<f32> {
    let number = |i: u32| (i.wrapping_mul(2_654_435_761).rotate_left(11) >> 7) % 100;
    (0..COUNT).map(|i| number(i) as f32).collect()
}

fn expected(of_one: impl Fn(f32) -> f32) -> Vec<f32> {
    numbers().into_iter().map(of_one).collect()
}

pub(crate) fn scaled(on: &On<'_>) -> Result<()> {
    let x = on.device.upload(&numbers())?;
    let mut y = on.device.zeros::<f32>(LENGTH)?;
    on.kernels.scaled(&on.stream, Launch::linear(LENGTH), 3.0, &x, &mut y)?;
    assert_eq!(y.download()?, expected(|x| 3.0 * x));
    Ok(())
}

pub(crate) fn shifted(on: &On<'_>) -> Result<()> {
    let x = on.device.upload(&numbers())?;
    let mut y = on.device.zeros::<f32>(LENGTH)?;
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.shifted(&on.stream, Launch::linear(LENGTH), &x, &mut y, 5.0, COUNT) }?;
    assert_eq!(y.download()?, expected(|x| x + 5.0));
    Ok(())
}

pub(crate) fn doubled(on: &On<'_>) -> Result<()> {
    let x = on.device.upload(&numbers())?;
    let mut y = on.device.zeros::<f32>(LENGTH)?;
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.doubled(&on.stream, Launch::linear(LENGTH), &x, &mut y, COUNT) }?;
    assert_eq!(y.download()?, expected(|x| 2.0 * x));
    Ok(())
}

/// The settings have a contract, which makes the wrapper safe.
pub(crate) fn affine(on: &On<'_>) -> Result<()> {
    let x = on.device.upload(&numbers())?;
    let mut y = on.device.upload(&[1.0_f32; LENGTH])?;
    on.kernels.affine(&on.stream, Launch::linear(LENGTH), 3.0, &x, &mut y, COUNT - 10)?;
    let mut expected = expected(|x| 3.0 * x + 1.0);
    expected[LENGTH - 10..].fill(1.0);
    assert_eq!(y.download()?, expected);
    Ok(())
}

pub(crate) fn backwards(on: &On<'_>) -> Result<()> {
    let numbers: Vec<u32> = (0..256).collect();
    let mut x = on.device.upload(&numbers)?;
    // SAFETY: there are four blocks of 64 elements.
    unsafe { on.kernels.backwards(&on.stream, Launch::grid([4], [64]), &mut x) }?;
    let expected: Vec<u32> =
        numbers.chunks(64).flat_map(|block| block.iter().rev().copied()).collect();
    assert_eq!(x.download()?, expected);
    // The file says what blocks the kernel is for.
    // SAFETY: nothing is launched.
    let refused = unsafe { on.kernels.backwards(&on.stream, Launch::grid([4], [32]), &mut x) };
    let error = refused.expect_err("a block of another size").to_string();
    assert!(error.contains("64"), "{error}");
    Ok(())
}

pub(crate) fn series(on: &On<'_>) -> Result<()> {
    let mut out = on.device.zeros::<u64>(32)?;
    // SAFETY: there is one element for each thread.
    unsafe { on.kernels.series(&on.stream, Launch::grid([1], [32]), &mut out, [7, 1 << 33]) }?;
    assert_eq!(out.download()?, (0..32).map(|i| 7 + (i << 33)).collect::<Vec<u64>>());
    Ok(())
}

pub(crate) fn bytes(on: &On<'_>) -> Result<()> {
    let mut out = on.device.zeros::<u8>(96)?;
    // SAFETY: there is one byte for each thread.
    unsafe { on.kernels.bytes(&on.stream, Launch::grid([1], [96]), &mut out, 200) }?;
    assert_eq!(out.download()?, (0..96).map(|i| 200_u8.wrapping_add(i)).collect::<Vec<_>>());
    Ok(())
}
