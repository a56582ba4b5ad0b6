//! Checks of `kernels/stack.rs`.

use crate::{Check, Context, Outcome, compare::same};
use kernelmill::Launch;

/// GPUs have less stack than this needs, unless they are told.
pub(crate) const CHECKS: &[Check] = &[Check::on_cpu("deep_frames", deep_frames)];

fn deep_frames(on: &Context) -> Outcome {
    for depth in [0, 1, 9] {
        let sums = deep(on, depth)?;
        let sink = |i: u32| {
            let mut own = [i; 2048];
            let levels: Vec<_> = (0..=depth)
                .rev()
                .map(|level| {
                    own[level as usize] ^= level;
                    if level == 0 { own[5] } else { own[7] }
                })
                .collect();
            levels.into_iter().fold(0, |sum, value| sum ^ value)
        };
        same(&sums, &(0..48).map(sink).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// What 48 threads compute that go so deep.
///
/// # Errors
///
/// What the device reports: a panic, where the stack does not suffice.
pub fn deep(on: &Context, depth: u32) -> kernelmill::Result<Vec<u32>> {
    let mut output = on.device.zeros::<u32>(48)?;
    on.kernels.deep_frames(&on.stream, Launch::grid([1], [48]), depth, &mut output)?;
    output.download()
}
