//! Checks of `kernels/atomics.rs`.

use crate::{
    Check, Context, Outcome,
    compare::{below, same},
};
use kernelmill::Launch;

pub(crate) const CHECKS: &[Check] = &[
    Check::new("histogram", histogram),
    Check::new("atomic_operations", operations),
    Check::new("float_additions", additions),
];

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

/// The numbers are integers, so that their sums are the same in any order.
fn additions(on: &Context) -> Outcome {
    let n = 1000_u32;
    let x: Vec<f32> = (0..n).map(|i| i as f32 - 300.0).collect();
    let (input, mut old) = (on.device.upload(&x)?, on.device.zeros::<f32>(x.len())?);
    let mut sums = on.device.upload(&vec![2.0_f32; x.len() + 1])?;
    let mut wide = on.device.upload(&vec![3.0_f64; x.len() + 1])?;
    let launch = Launch::grid([8], [128]);
    on.kernels.float_additions(&on.stream, launch, &mut sums, &mut wide, &input, &mut old)?;
    let sum: f32 = x.iter().sum();
    let own = |first: f32, change: fn(f32) -> f32| -> Vec<f32> {
        [first].into_iter().chain(x.iter().map(|x| change(*x))).collect()
    };
    same(&sums.download()?, &own(2.0 + sum, |x| 2.0 - x))?;
    let wide: Vec<f32> = wide.download()?.into_iter().map(|number| number as f32).collect();
    same(&wide, &own(3.0 - 0.5 * sum, |x| 3.0 + x))?;
    same(&old.download()?, &vec![5.0; x.len()])
}
