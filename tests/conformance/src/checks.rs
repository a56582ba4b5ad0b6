//! Checks of `kernels/checks.rs`: results where all conditions hold, and else which threads are said to have
//! panicked.

use crate::{
    Check, Context, Outcome,
    compare::{below, same},
    panics::reported,
};
use kernelmill::{Buffer, Launch, Result};

pub(crate) const CHECKS: &[Check] = &[
    Check::new("check_after_call", after_call),
    Check::new("checks_after_call", several_after_call),
    Check::new("check_after_barrier", after_barrier),
    Check::new("check_in_branch", in_branch),
];

/// Threads of a launch, in blocks of [`BLOCK`].
const THREADS: usize = 192;
const BLOCK: usize = 64;

type Wrapper = fn(&Context, Launch<1>, &Buffer<u32>, &Buffer<u32>, &mut Buffer<u32>) -> Result<()>;

fn grown(x: u32, by: u32) -> u32 {
    (0..40).fold(x, |sum, i| {
        let sum = sum.wrapping_mul(by).wrapping_add(i);
        if sum > 1000 { sum / 2 } else { sum }
    })
}

/// Launches with several numbers of elements and limits. `value` gives what a thread computes, or the line on
/// which it panics.
fn expect(
    on: &Context,
    wrapper: Wrapper,
    value: impl Fn(&[u32], usize, usize) -> std::result::Result<u32, u32>,
) -> Outcome {
    let x = below(73, 1000, THREADS);
    for (elements, limits) in
        [(THREADS, 2 * THREADS), (180, 2 * THREADS), (180, 360), (180, 300), (60, 121), (180, 0)]
    {
        let (input, tape) = (on.device.upload(&x)?, on.device.zeros::<u32>(limits)?);
        let mut output = on.device.zeros::<u32>(elements)?;
        wrapper(
            on,
            Launch::grid([(THREADS / BLOCK) as u32], [BLOCK as u32]),
            &input,
            &tape,
            &mut output,
        )?;
        let values: Vec<_> = (0..elements).map(|i| value(&x, i, limits)).collect();
        let expected: std::result::Result<Vec<u32>, u32> = values.iter().copied().collect();
        if let Ok(expected) = expected {
            on.stream.synchronize()?;
            same(&output.download()?, &expected)?;
            continue;
        }
        let panic = reported(&on.stream)?;
        let is_of = |(i, value): (usize, &std::result::Result<u32, u32>)| {
            let line = panic.location.map(|location| location.line);
            value.is_err()
                && value.err() == line
                && panic.block == [(i / BLOCK) as u32, 0, 0]
                && panic.thread == [(i % BLOCK) as u32, 0, 0]
        };
        if !values.iter().enumerate().any(is_of) {
            return Err(format!("{elements} elements, {limits} limits: {panic:?}").into());
        }
    }
    Ok(())
}

fn after_call(on: &Context) -> Outcome {
    let wrapper: Wrapper =
        |on, launch, x, limits, y| on.kernels.check_after_call(&on.stream, launch, x, limits, y);
    expect(
        on,
        wrapper,
        |x, i, limits| {
            if i * 2 + 2 <= limits { Ok(grown(x[i], 3)) } else { Err(27) }
        },
    )
}

fn several_after_call(on: &Context) -> Outcome {
    let wrapper: Wrapper =
        |on, launch, x, limits, y| on.kernels.checks_after_call(&on.stream, launch, x, limits, y);
    expect(on, wrapper, |x, i, limits| {
        if x[i].is_multiple_of(2) {
            if i + 3 < limits { Ok(grown(x[i], 3) + 1) } else { Err(41) }
        } else if i * 4 < limits * 3 {
            Ok(grown(x[i], 5) + u32::from(!x[i].is_multiple_of(3)))
        } else {
            Err(44)
        }
    })
}

fn after_barrier(on: &Context) -> Outcome {
    let wrapper: Wrapper =
        |on, launch, x, limits, y| on.kernels.check_after_barrier(&on.stream, launch, x, limits, y);
    expect(
        on,
        wrapper,
        |x, i, limits| {
            if i * 2 + 2 <= limits { Ok(grown(x[i ^ 1], 3)) } else { Err(65) }
        },
    )
}

fn in_branch(on: &Context) -> Outcome {
    let x = below(79, 1000, 300);
    let input = on.device.upload(&x)?;
    for first in [0_u32, 3, 30, 42, 613_566_757, u32::MAX, 1 << 31, 0x2000_0000, 0x1fff_ffff] {
        let mut output = on.device.zeros::<u32>(150)?;
        let launch = Launch::grid([3], [64]);
        on.kernels.check_in_branch(&on.stream, launch, first, &input, &mut output)?;
        let value = |t: u32| match first {
            0..0x2000_0000 => x.get((first * 7 + t) as usize).copied().unwrap_or(2),
            _ => 1,
        };
        same(&output.download()?, &(0..150).map(value).collect::<Vec<_>>())?;
    }
    Ok(())
}
