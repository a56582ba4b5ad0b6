//! Checks of `kernels/panics.rs` and `ranges.rs`: what the host learns of a panic.

use crate::{Check, Context, Outcome, compare::same};
use kernelmill::{Backend, Buffer, Launch};
use std::error::Error;

pub(crate) const CHECKS: &[Check] = &[
    Check::new("panic_bounds", bounds),
    Check::new("panic_division", division),
    Check::new("panic_unwrap", unwrap),
    Check::new("panic_message", message),
    Check::new("panic_at_barrier", at_barrier),
    Check::new("panic_range", range),
];

/// Blocks of 32: thread 37 of the launch is thread 5 of block 1.
const GRID: ([u32; 1], [u32; 1]) = ([2], [32]);

pub(crate) type Wrapper =
    fn(&Context, Launch<1>, &Buffer<u32>, &mut Buffer<u32>) -> kernelmill::Result<()>;

/// Launches with a zero at element 37, on two blocks of 32 threads, and wants an error that names
/// the thread and holds each of `parts`; afterwards the device must still work. A GPU runs the
/// first block to its end: there `y` is what `value` makes of its elements of `x` and their place.
pub(crate) fn panics(
    on: &Context,
    wrapper: Wrapper,
    parts: &[&str],
    value: fn(&[u32], usize) -> u32,
) -> Outcome {
    let mut x: Vec<u32> = (0..64).map(|i| 7 + i / 3).collect();
    x[37] = 0;
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(64)?);
    wrapper(on, Launch::grid(GRID.0, GRID.1), &input, &mut output)?;
    let Err(error) = on.stream.synchronize() else {
        return Err("the panic was not reported".into());
    };
    let text = whole_text(&error);
    for part in parts.iter().chain(&["block 1,0,0", "thread 5,0,0"]) {
        if !text.contains(part) {
            return Err(format!("{part:?} is not in {text:?}").into());
        }
    }
    on.stream.synchronize()?;
    if on.device.backend() == Backend::Cpu {
        return Ok(());
    }
    let expected: Vec<u32> = (0..32).map(|i| value(&x[..32], i)).collect();
    same(&output.download()?[..32], &expected)
}

/// The message of an error with those of all its sources.
pub(crate) fn whole_text(error: &dyn Error) -> String {
    let sources = std::iter::successors(error.source(), |source| (*source).source());
    sources.fold(error.to_string(), |text, source| format!("{text}: {source}"))
}

fn bounds(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_bounds(&on.stream, launch, x, y);
    let parts = ["index out of bounds: the len is 64 but the index is 1037", "panics.rs:13"];
    panics(on, wrapper, &parts, |x, i| x[i])
}

fn division(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_division(&on.stream, launch, x, y);
    panics(on, wrapper, &["attempt to divide by zero", "panics.rs:22"], |x, i| 1000 / x[i])
}

fn unwrap(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_unwrap(&on.stream, launch, x, y);
    let parts = ["`Option::unwrap()` on a `None` value", "panics.rs:31"];
    panics(on, wrapper, &parts, |x, i| x[i] - 1)
}

fn message(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_message(&on.stream, launch, x, y);
    // Only the CPU formats a message; a GPU tells where it was.
    let formatted = "element 37 is 0, and that is not allowed";
    let on_cpu = on.device.backend() == Backend::Cpu;
    let parts = if on_cpu { vec![formatted, "panics.rs:41"] } else { vec!["panics.rs:41"] };
    panics(on, wrapper, &parts, |x, i| x[i])
}

fn at_barrier(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_at_barrier(&on.stream, launch, x, y);
    panics(on, wrapper, &["panics.rs:54"], |x, i| x[31 - i])
}

fn range(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_range(&on.stream, launch, x, y);
    let sum = |x: &[u32], i: usize| x[i / 4..i / 4 + 4].iter().sum();
    panics(on, wrapper, &["range", "100", "ranges.rs:13"], sum)
}
