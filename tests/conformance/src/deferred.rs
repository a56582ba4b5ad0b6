//! Checks of `linked/deferred.rs`.

use crate::{Check, Context, Outcome, compare::same};
use kernelmill::Launch;

pub(crate) const CHECKS: &[Check] = &[Check::new("named_functions", named_functions)];

fn named_functions(on: &Context) -> Outcome {
    let x: Vec<u32> = (0..100).map(|i| i % 13).collect();
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(x.len())?);
    let launch = Launch::grid([4], [32]);
    on.kernels.named_functions(&on.stream, launch, &input, &mut output)?;
    let value = |(i, x): (usize, &u32)| (0..=*x).sum::<u32>() * 1000 + i as u32 % 32;
    same(&output.download()?, &x.iter().enumerate().map(value).collect::<Vec<_>>())
}
