//! The pool of random kernels, with what each computes in plain Rust.

use kernelmill::{
    BufferSlice, BufferSliceMut, GraphBuilder, GraphSlice, GraphSliceMut, Launch, PreparedLaunch,
    Result, Stream,
};

/// The wrappers that the build script wrote.
pub mod kernels {
    kernelmill::include_kernels!();
}

include!(concat!(env!("OUT_DIR"), "/cases.rs"));

type Start = fn(
    &kernels::Kernels,
    &Stream,
    Launch<1>,
    u32,
    &BufferSlice<'_, u32>,
    &mut BufferSliceMut<'_, u32>,
) -> Result<()>;

type Record = fn(
    &kernels::Kernels,
    &GraphBuilder,
    Launch<1>,
    u32,
    &GraphSlice<'_, u32>,
    &mut GraphSliceMut<'_, u32>,
) -> Result<()>;

type Prepare = for<'a> fn(
    &kernels::Kernels,
    Launch<1>,
    u32,
    &'a BufferSlice<'_, u32>,
    &'a mut BufferSliceMut<'_, u32>,
) -> Result<PreparedLaunch<'a>>;

/// A kernel of the pool.
pub(crate) struct Case {
    kind: Kind,
    function: fn(u32, u32, u32) -> u32,
    pub(crate) launch: Start,
    pub(crate) record: Record,
    pub(crate) prepare: Prepare,
}

/// What a kernel does with its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Of elements at the same index.
    Map,
    /// The same; panics where the first slice is shorter than the second.
    Checked,
    /// Of an element anywhere.
    Gather,
    /// Of the element of the next thread, through shared memory.
    Exchange,
    /// Of the element of the thread before; threads without an element return before the barrier.
    Leaving,
    /// As `Map`; panics for some elements.
    Asserting,
    /// As `Map`, several times.
    Loop,
}

/// The threads of a launch.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) blocks: usize,
    pub(crate) threads: usize,
}

/// A thread panics.
pub(crate) struct Panics;

impl Case {
    /// What a launch makes of `y`; an error where a thread panics.
    pub(crate) fn apply(
        &self,
        shape: Shape,
        a: u32,
        x: &[u32],
        y: &mut [u32],
    ) -> std::result::Result<(), Panics> {
        let threads = shape.blocks * shape.threads;
        for (i, out) in y.iter_mut().enumerate().take(threads) {
            *out = self.element(shape, a, x, (i, *out))?;
        }
        Ok(())
    }

    /// What the thread of the element `y` at `i` makes of it.
    fn element(
        &self,
        shape: Shape,
        a: u32,
        x: &[u32],
        (i, y): (usize, u32),
    ) -> std::result::Result<u32, Panics> {
        let at = |i: usize| x.get(i).copied().unwrap_or(a);
        let first = i - i % shape.threads;
        Ok(match self.kind {
            Kind::Map => (self.function)(a, at(i), y),
            Kind::Checked => (self.function)(a, *x.get(i).ok_or(Panics)?, y),
            Kind::Gather if x.is_empty() => a,
            Kind::Gather => x[(self.function)(a, i as u32, y) as usize % x.len()],
            Kind::Exchange => (self.function)(a, at(first + (i + 1 - first) % shape.threads), y),
            Kind::Leaving if i >= x.len() => y,
            Kind::Leaving => (self.function)(a, at(first.max(i.saturating_sub(1))), y),
            Kind::Asserting if at(i) % 50 == 7 => return Err(Panics),
            Kind::Asserting => (self.function)(a, at(i), y),
            Kind::Loop => {
                let rounds = (x.len() as u32).wrapping_add(a) % 6;
                (0..rounds).fold(y, |y, round| (self.function)(round, at(i), y))
            }
        })
    }
}
