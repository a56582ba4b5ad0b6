//! Checks of `kernels/groups.rs`, on inputs of few bits: sums are exact in any order.

use crate::{
    Check, Context, Outcome,
    compare::same,
    tensor::{halves, values},
};
use kernelmill::Launch;

pub(crate) const CHECKS: &[Check] =
    &[Check::new("copies_in_bulk", bulk), Check::new("group_product", product)];

fn bulk(on: &Context) -> Outcome {
    const ROUNDS: usize = 5;
    let x = values(21, ROUNDS * 256 + 1);
    // The parts start at multiples of 16 bytes, or do not.
    for skip in [0, 1] {
        let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<f32>(256)?);
        let (launch, input) = (Launch::grid([1], [256]), input.slice(skip..));
        on.kernels.copies_in_bulk(&on.stream, launch, ROUNDS as u32, &input, &mut output)?;
        let sum = |t: usize| (0..ROUNDS).map(|round| x[skip + 256 * round + 255 - t]).sum::<f32>();
        same(&output.download()?, &(0..256).map(sum).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn product(on: &Context) -> Outcome {
    let (a, b) = (values(22, 64 * 32), values(23, 64 * 32));
    let (left, right) = (on.device.upload(&halves(&a))?, on.device.upload(&halves(&b))?);
    let mut output = on.device.zeros::<f32>(64 * 64)?;
    on.kernels.group_product(&on.stream, Launch::grid([1], [128]), &left, &right, &mut output)?;
    let dot = |at: usize| {
        let (a, b) = (&a[at / 64 * 32..][..32], &b[at % 64 * 32..][..32]);
        a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>()
    };
    same(&output.download()?, &(0..64 * 64).map(dot).collect::<Vec<_>>())
}
