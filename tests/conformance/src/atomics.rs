//! Checks of `kernels/atomics.rs`.

use crate::{
    Check, Context, Outcome,
    compare::{below, same},
};
use kernelmill::Launch;

pub(crate) const CHECKS: &[Check] =
    &[Check::new("histogram", histogram), Check::new("atomic_operations", operations)];

fn histogram(on: &Context) -> Outcome {
    let x = below(41, 1 << 31, 10_000);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(64)?);
    on.kernels.histogram(&on.stream, Launch::grid([79], [128]), &input, &mut output)?;
    let mut expected = [0; 64];
    x.iter().for_each(|value| expected[(value % 64) as usize] += 1);
    same(&output.download()?, &expected)
}

fn operations(on: &Context) -> Outcome {
    let n = 4096_u32;
    let mut cells = on.device.upload(&[0, 0, u32::MAX, 0, 0, n, 0])?;
    let mut wide = on.device.upload(&[0_i64, -1])?;
    let launch = Launch::grid([n / 128], [128]);
    on.kernels.atomic_operations(&on.stream, launch, &mut cells, &mut wide)?;
    let sum: u32 = (0..n).sum();
    let xor = (0..n).fold(0, |a, b| a ^ b);
    same(&cells.download()?, &[sum, n - 1, 0, u32::MAX, xor, 0, 2 * n])?;
    same(&wide.download()?, &[-i64::from(sum), i64::from(n) - 1])
}
