//! The check of `linked/clock.rs`.

use crate::{Check, Context, Outcome};
use kernelmill::Launch;

pub(crate) const CHECKS: &[Check] = &[Check::new("cycles", cycles)];

fn cycles(on: &Context) -> Outcome {
    let mut output = on.device.zeros::<u64>(100)?;
    on.kernels.cycles(&on.stream, Launch::linear(100), &mut output)?;
    let wrong: Vec<_> =
        output.download()?.into_iter().filter(|it| !(1..1_000_000_000).contains(it)).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("{wrong:?} cycles").into()) }
}
