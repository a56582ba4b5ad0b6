//! The check of `linked/clock.rs`.

use crate::{Check, Context, Outcome};
use kernelmill::{Backend, Launch};

pub(crate) const CHECKS: &[Check] = &[Check::new("cycles", cycles)];

fn cycles(on: &Context) -> Outcome {
    let mut output = on.device.zeros::<u64>(100)?;
    on.kernels.cycles(&on.stream, Launch::linear(100), &mut output)?;
    // LLVM reads no counter on every processor of aarch64.
    let has_none = cfg!(target_arch = "aarch64") && on.device.backend() == Backend::Cpu;
    let expected = u64::from(!has_none)..1_000_000_000;
    let wrong: Vec<_> =
        output.download()?.into_iter().filter(|it| !expected.contains(it)).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("{wrong:?} cycles").into()) }
}
