//! Checks of `kernels/sharing.rs`.

use crate::{Check, Context, Outcome, compare::same};
use kernelmill::Launch;

pub(crate) const CHECKS: &[Check] = &[
    Check::new("neighbours", neighbours),
    Check::new("last_sums", last_sums),
    Check::new("loads_atomics", loads_atomics),
];

const THREADS: u32 = 256;

fn neighbours(on: &Context) -> Outcome {
    let x: Vec<u32> = (0..THREADS).map(|i| 7 * i % 100).collect();
    let mut y = on.device.upload(&x)?;
    let mut before = on.device.zeros::<u32>(THREADS as usize)?;
    let launch = Launch::grid([THREADS / 64], [64]);
    on.kernels.neighbours(&on.stream, launch, &mut y, &mut before)?;
    let expected = |i: u32| x[(i ^ 1) as usize] + 1000 * (2 * (i ^ 1));
    same(&before.download()?, &(0..THREADS).map(expected).collect::<Vec<_>>())
}

fn last_sums(on: &Context) -> Outcome {
    let mut count = on.device.zeros::<u32>(1)?;
    let mut y = on.device.zeros::<u32>(THREADS as usize)?;
    let mut sum = on.device.zeros::<u32>(1)?;
    let launch = Launch::grid([THREADS / 64], [64]);
    on.kernels.last_sums(&on.stream, launch, &mut count, THREADS, &mut y, &mut sum)?;
    same(&sum.download()?, &[(0..THREADS).map(|i| 2 * i + 2).sum()])
}

fn loads_atomics(on: &Context) -> Outcome {
    let mut cells = on.device.upload(&[3_u32, 1, 4, 1, 5])?;
    let mut y = on.device.zeros::<u32>(100)?;
    on.kernels.loads_atomics(&on.stream, Launch::linear(100), &mut cells, &mut y)?;
    same(&y.download()?, &[3, 1, 4, 1, 5].repeat(20))
}
