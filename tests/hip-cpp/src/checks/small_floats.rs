//! Numbers of 16 bits.

use super::{On, floats};
use crate::kernels::half2;
use half::{bf16, f16};
use kernelmill::{Launch, Result};

pub(crate) fn half_axpy(on: &On<'_>) -> Result<()> {
    let all: Vec<_> = floats(100).into_iter().map(f16::from_f32).collect();
    let x = on.device.upload(&all)?;
    let mut y = on.device.upload(&[f16::ONE; 100])?;
    let a = f16::from_f32(0.5);
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.half_axpy(&on.stream, Launch::linear(100), a, &x, &mut y, 100) }?;
    let expected = all.iter().map(|x| f16::from_f32(0.5 * x.to_f32() + 1.0));
    assert_eq!(y.download()?, expected.collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn half_pairs(on: &On<'_>) -> Result<()> {
    let pair = |x: f32| half2 { x: f16::from_f32(x), y: f16::from_f32(x + 0.5) };
    let all: Vec<_> = floats(100).into_iter().map(pair).collect();
    let x = on.device.upload(&all)?;
    let mut out = on.device.zeros::<f32>(100)?;
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.half_pairs(&on.stream, Launch::linear(100), &x, &mut out, 100) }?;
    let expected = floats(100).into_iter().map(|x| 4.0 * x + 1.0);
    assert_eq!(out.download()?, expected.collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn brain(on: &On<'_>) -> Result<()> {
    let x = on.device.upload(&floats(100))?;
    let mut y = on.device.zeros::<bf16>(100)?;
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.brain(&on.stream, Launch::linear(100), &x, &mut y, 100) }?;
    let expected = floats(100).into_iter().map(|x| bf16::from_f32(3.0 * x));
    assert_eq!(y.download()?, expected.collect::<Vec<_>>());
    Ok(())
}
