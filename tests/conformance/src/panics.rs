//! Checks of `kernels/panics.rs` and `ranges.rs`: what the host learns of a panic.

use crate::{Check, Context, Outcome, compare::same};
use kernelmill::{Backend, Buffer, KernelPanic, Launch, PanicKind, SourceLocation, Stream};
use std::{error::Error, path::Path};

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

/// A panic as a check expects it.
pub(crate) struct Expected {
    pub(crate) kind: PanicKind,
    /// The name of the file in `kernels/`, and the line.
    pub(crate) place: (&'static str, u32),
    /// Words of the message, which is std's or the kernel's own.
    pub(crate) message: &'static [&'static str],
}

impl Expected {
    /// Whether it is this panic.
    pub(crate) fn check(&self, panic: &KernelPanic) -> Outcome {
        let is_there = |location: SourceLocation<'_>| {
            let name = Path::new(location.file).file_name().and_then(|name| name.to_str());
            (name, location.line) == (Some(self.place.0), self.place.1)
        };
        let has_words = self.message.iter().all(|part| panic.message.contains(part));
        match has_words && panic.kind == self.kind && panic.location.is_some_and(is_there) {
            true => Ok(()),
            false => Err(format!(
                "the panic is not {:?} at {:?} with {:?}: {panic:?}",
                self.kind, self.place, self.message
            )
            .into()),
        }
    }
}

/// The panic that a stream reports; an error where it reports none, or another error.
pub(crate) fn reported(stream: &Stream) -> Result<KernelPanic, Box<dyn Error + Send + Sync>> {
    match stream.synchronize() {
        Err(kernelmill::Error::KernelPanic(panic)) => Ok(*panic),
        Err(error) => Err(error.into()),
        Ok(()) => Err("the panic was not reported".into()),
    }
}

/// Launches with a zero at element 37, on two blocks of 32 threads, and wants the expected panic of
/// that element's thread; afterwards the device must still work. A GPU runs the first block to its end:
/// there `y` is what `value` makes of its elements of `x` and their place.
pub(crate) fn panics(
    on: &Context,
    wrapper: Wrapper,
    expected: &Expected,
    value: fn(&[u32], usize) -> u32,
) -> Outcome {
    let mut x: Vec<u32> = (0..64).map(|i| 7 + i / 3).collect();
    x[37] = 0;
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(64)?);
    wrapper(on, Launch::grid(GRID.0, GRID.1), &input, &mut output)?;
    let panic = reported(&on.stream)?;
    expected.check(&panic)?;
    if (panic.block, panic.thread) != ([1, 0, 0], [5, 0, 0]) {
        return Err(format!("the panic is of another thread: {panic:?}").into());
    }
    on.stream.synchronize()?;
    if on.device.backend() == Backend::Cpu {
        return Ok(());
    }
    let expected: Vec<u32> = (0..32).map(|i| value(&x[..32], i)).collect();
    same(&output.download()?[..32], &expected)
}

fn bounds(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_bounds(&on.stream, launch, x, y);
    let expected = Expected {
        kind: PanicKind::IndexOutOfBounds,
        place: ("panics.rs", 13),
        message: &["index out of bounds: the len is 64 but the index is 1037"],
    };
    panics(on, wrapper, &expected, |x, i| x[i])
}

fn division(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_division(&on.stream, launch, x, y);
    let expected = Expected {
        kind: PanicKind::DivisionByZero,
        place: ("panics.rs", 22),
        message: &["attempt to divide by zero"],
    };
    panics(on, wrapper, &expected, |x, i| 1000 / x[i])
}

fn unwrap(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_unwrap(&on.stream, launch, x, y);
    let expected = Expected {
        kind: PanicKind::NoneUnwrapped,
        place: ("panics.rs", 31),
        message: &["`Option::unwrap()` on a `None` value"],
    };
    panics(on, wrapper, &expected, |x, i| x[i] - 1)
}

fn message(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_message(&on.stream, launch, x, y);
    // Only the CPU formats a message; a GPU tells where it was.
    let on_cpu = on.device.backend() == Backend::Cpu;
    let message: &[_] = if on_cpu { &["element 37 is 0, and that is not allowed"] } else { &[] };
    let expected = Expected { kind: PanicKind::Explicit, place: ("panics.rs", 41), message };
    panics(on, wrapper, &expected, |x, i| x[i])
}

fn at_barrier(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_at_barrier(&on.stream, launch, x, y);
    let expected = Expected { kind: PanicKind::Explicit, place: ("panics.rs", 54), message: &[] };
    panics(on, wrapper, &expected, |x, i| x[31 - i])
}

fn range(on: &Context) -> Outcome {
    let wrapper: Wrapper = |on, launch, x, y| on.kernels.panic_range(&on.stream, launch, x, y);
    let sum = |x: &[u32], i: usize| x[i / 4..i / 4 + 4].iter().sum();
    // The CPU formats std's message, and a GPU says which of std's it is.
    let on_cpu = on.device.backend() == Backend::Cpu;
    let expected = Expected {
        kind: if on_cpu { PanicKind::Explicit } else { PanicKind::SliceRange },
        place: ("ranges.rs", 13),
        message: &["range", "100"],
    };
    panics(on, wrapper, &expected, sum)
}
