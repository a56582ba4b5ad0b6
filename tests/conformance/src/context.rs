//! Checks of `kernels/context.rs`.

use crate::{
    Check, Context, Outcome,
    compare::{below, same},
    panics::{Expected, Wrapper, panics},
};
use kernelmill::{Launch, PanicKind};

pub(crate) const CHECKS: &[Check] = &[
    Check::new("recursive_index", recursive_index),
    Check::new("index_through_pointer", index_through_pointer),
    Check::new("panic_in_recursion", panic_in_recursion),
    Check::new("panic_in_recursion_at_barrier", panic_in_recursion_at_barrier),
    Check::new("panic_out_of_line", panic_out_of_line),
];

fn recursive_index(on: &Context) -> Outcome {
    let mut output = on.device.zeros::<u32>(40 * 5)?;
    on.kernels.recursive_index(&on.stream, Launch::grid([5], [40]), &mut output)?;
    let value = |i: u32| {
        let t = i % 40 + 100 * (i / 40);
        (0..=t % 7).map(|depth| t + depth).sum::<u32>()
    };
    same(&output.download()?, &(0..200).map(value).collect::<Vec<_>>())
}

fn index_through_pointer(on: &Context) -> Outcome {
    let select = below(91, 1000, 64 * 4);
    let (input, mut output) = (on.device.upload(&select)?, on.device.zeros::<u32>(64 * 4)?);
    let launch = Launch::grid([4], [64]);
    on.kernels.index_through_pointer(&on.stream, launch, &input, &mut output)?;
    let value = |(i, select): (usize, &u32)| {
        let (block, thread) = (i as u32 / 64, i as u32 % 64);
        match select % 3 {
            0 => thread,
            1 => 1000 + 64 * block + (thread + 3) % 64,
            _ => 64 * 4,
        }
    };
    same(&output.download()?, &select.iter().enumerate().map(value).collect::<Vec<_>>())
}

const DEPTH_PANIC: Expected =
    Expected { kind: PanicKind::Explicit, place: ("context.rs", 54), message: &[] };

/// Thread 37 of the launch, 5 of its block, has the limit 0 where it is 7 for all others.
fn panic_in_recursion(on: &Context) -> Outcome {
    let wrapper: Wrapper =
        |on, launch, x, y| on.kernels.panic_in_recursion(&on.stream, launch, x, y);
    panics(on, wrapper, &DEPTH_PANIC, |_, i| depth(i))
}

/// Where a thread stops to sink: one for each level, from the one it stops at.
fn depth(thread: usize) -> u32 {
    2 * (thread as u32 % 4 + 3)
}

fn panic_in_recursion_at_barrier(on: &Context) -> Outcome {
    let wrapper: Wrapper =
        |on, launch, x, y| on.kernels.panic_in_recursion_at_barrier(&on.stream, launch, x, y);
    panics(on, wrapper, &DEPTH_PANIC, |_, i| depth(31 - i))
}

/// Twice on one stream: the second panic finds the record of the first, which the host has read.
fn panic_out_of_line(on: &Context) -> Outcome {
    let wrapper: Wrapper =
        |on, launch, x, y| on.kernels.panic_out_of_line(&on.stream, launch, x, y);
    let expected =
        Expected { kind: PanicKind::DivisionByZero, place: ("context.rs", 88), message: &[] };
    for _ in 0..2 {
        panics(on, wrapper, &expected, |x, i| 100 / x[i])?;
    }
    Ok(())
}
