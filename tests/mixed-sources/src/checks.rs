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
