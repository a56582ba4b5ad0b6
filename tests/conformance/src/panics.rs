//! Checks of `kernels/panics.rs`: what the host learns of a panic.

use crate::{Check, Context, Outcome};
use kernelmill::{Backend, Buffer, Launch};
use std::error::Error;

pub(crate) const CHECKS: &[Check] = &[
    Check::new("panic_bounds", bounds),
    Check::new("panic_division", division),
    Check::new("panic_unwrap", unwrap),
    Check::new("panic_message", message),
    Check::new("panic_at_barrier", at_barrier),
];

/// Blocks of 32: thread 37 of the launch is thread 5 of block 1.
const GRID: ([u32; 1], [u32; 1]) = ([2], [32]);

pub(crate) type Wrapper =
    fn(&Context, Launch<1>, &Buffer<u32>, &mut Buffer<u32>) -> kernelmill::Result<()>;

/// Launches with a zero at element 37 and wants an error that holds each of `parts`; afterwards
/// the device must still work.
pub(crate) fn panics(on: &Context, wrapper: Wrapper, parts: &[&str]) -> Outcome {
    let mut x = vec![7_u32; 64];
    x[37] = 0;
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(64)?);
    wrapper(on, Launch::grid(GRID.0, GRID.1), &input, &mut output)?;
    let Err(error) = on.stream.synchronize() else {
        return Err("the panic was not reported".into());
    };
    let text = whole_text(&error);
    for part in parts {
        if !text.contains(part) {
            return Err(format!("{part:?} is not in {text:?}").into());
        }
    }
    on.stream.synchronize()?;
    Ok(())
}

/// The message of an error with those of all its sources.
fn whole_text(error: &dyn Error) -> String {
    let sources = std::iter::successors(error.source(), |source| (*source).source());
    sources.fold(error.to_string(), |text, source| format!("{text}: {source}"))
}

fn bounds(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_bounds(&on.stream, launch, x, y);
    let parts = ["index out of bounds: the len is 64 but the index is 1037", "panics.rs:13"];
    panics(on, wrapper, &parts)
}

fn division(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_division(&on.stream, launch, x, y);
    panics(on, wrapper, &["attempt to divide by zero", "panics.rs:22"])
}

fn unwrap(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_unwrap(&on.stream, launch, x, y);
    panics(on, wrapper, &["`Option::unwrap()` on a `None` value", "panics.rs:31"])
}

fn message(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_message(&on.stream, launch, x, y);
    // Only the CPU formats a message; a GPU tells where it was.
    let formatted = "element 37 is 0, and that is not allowed";
    let on_cpu = on.device.backend() == Backend::Cpu;
    let parts = if on_cpu { vec![formatted, "panics.rs:41"] } else { vec!["panics.rs:41"] };
    panics(on, wrapper, &parts)
}

fn at_barrier(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_at_barrier(&on.stream, launch, x, y);
    panics(on, wrapper, &["panics.rs:51"])
}
