//! Kernels with checks, on a device and on the host: the same results where no thread panics, and else the
//! panic of a thread that panics on the host.

use std::{
    any::Any,
    cell::Cell,
    error::Error,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

use kernelmill::{Backend, Buffer, Launch};

use crate::context::{BLOCKS, Context, WIDTHS};

type Conditions = (bool, bool, bool);

/// A random kernel with checks.
pub struct Checked {
    /// The kernel.
    pub name: &'static str,
    pub(crate) has_barrier: bool,
    pub(crate) text: &'static str,
    pub(crate) conditions: fn(usize, usize, usize, u32) -> Conditions,
    pub(crate) body: Body,
    pub(crate) launch: Start,
}

/// What a thread of this number does: its conditions, `x`, `a`, `b`, `n`, a seed, and the element that it writes.
type Body = fn(usize, Conditions, &[u32], &[u32], &[u32], u32, u32, &mut u32);

type Start = fn(
    &Context,
    Launch<1>,
    u32,
    &Buffer<u32>,
    &Buffer<u32>,
    &Buffer<u32>,
    &mut Buffer<u32>,
) -> kernelmill::Result<()>;

/// What a thread leaves, or the message of its panic.
type Value = Result<u32, String>;

/// The inputs of a launch.
struct Inputs {
    width: usize,
    n: u32,
    x: Vec<u32>,
    a: Vec<u32>,
    b: Vec<u32>,
    elements: usize,
}

/// By how many percent of the threads the slices are longer, and how many elements are lacking in the
/// output: long slices, in which nothing is out of range, and shorter ones.
const LENGTHS: [(usize, usize, usize); 6] =
    [(900, 900, 0), (900, 900, 7), (430, 420, 5), (900, 310, 0), (205, 900, 40), (104, 60, 1)];

impl Inputs {
    fn all() -> impl Iterator<Item = Self> {
        let widths = WIDTHS.iter().flat_map(|width| [(*width, 3), (*width, 212)]);
        let all = widths.flat_map(|(width, n)| LENGTHS.map(|lengths| (width, n, lengths)));
        all.map(|(width, n, (a, b, lacking))| {
            let threads = width * BLOCKS;
            let numbers = |len: usize, by: u32| {
                (0..len as u32).map(|i| i.wrapping_mul(by) ^ (i << 4)).collect::<Vec<_>>()
            };
            Self {
                width,
                n,
                x: numbers(97, 0x9e37_79b9),
                a: numbers(threads * a / 100 + 20, 0x85eb_ca6b),
                b: numbers(threads * b / 100 + 20, 0xc2b2_ae35),
                elements: threads - lacking,
            }
        })
    }
}

impl Checked {
    /// Runs the kernel, and compares every element, or who panicked.
    ///
    /// # Errors
    ///
    /// What differs, with the kernel's source.
    pub(crate) fn check(&self, on: &Context) -> Result<(), Box<dyn Error>> {
        for inputs in Inputs::all() {
            let values = self.expected(&inputs);
            self.check_inputs(on, &inputs, &values).map_err(|error| {
                let Inputs { width, n, a, b, elements, .. } = &inputs;
                format!(
                    "{}, blocks of {width}, n {n}, a {}, b {}, out {elements}, on {}: {error}\n{}",
                    self.name,
                    a.len(),
                    b.len(),
                    on.device.name(),
                    self.text
                )
            })?;
        }
        Ok(())
    }

    fn check_inputs(
        &self,
        on: &Context,
        inputs: &Inputs,
        values: &[Value],
    ) -> Result<(), Box<dyn Error>> {
        let (x, a) = (on.device.upload(&inputs.x)?, on.device.upload(&inputs.a)?);
        let b = on.device.upload(&inputs.b)?;
        let mut output = on.device.zeros::<u32>(inputs.elements)?;
        let launch = Launch::grid([BLOCKS as u32], [inputs.width as u32]);
        (self.launch)(on, launch, inputs.n, &x, &a, &b, &mut output)?;
        let found = on.stream.synchronize();
        let panics = values.iter().filter(|value| value.is_err()).count();
        match found {
            Ok(()) if panics == 0 => {
                let got = output.download()?;
                let differs = (0..got.len()).find(|&place| Ok(got[place]) != values[place]);
                let Some(place) = differs else { return Ok(()) };
                Err(format!("element {place}: {}, {:?} on the host", got[place], values[place]))?
            }
            Ok(()) => Err(format!("no panic, {panics} on the host"))?,
            Err(error) => {
                let sources = std::iter::successors(error.source(), |source| (*source).source());
                let text = sources.fold(error.to_string(), |text, it| format!("{text}: {it}"));
                // Only the CPU formats messages.
                let has_message = on.device.backend() == Backend::Cpu;
                let is_of = |(thread, value): (usize, &Value)| {
                    let Err(message) = value else { return false };
                    let (block, thread) = (thread / inputs.width, thread % inputs.width);
                    text.contains(&format!("block {block},0,0 thread {thread},0,0"))
                        && (!has_message || text.contains(message.as_str()))
                };
                let is_known = values.iter().enumerate().any(is_of);
                if is_known { Ok(()) } else { Err(format!("{text}, {panics} panics on the host"))? }
            }
        }
    }

    /// What each thread leaves that has an element.
    fn expected(&self, inputs: &Inputs) -> Vec<Value> {
        let Inputs { width, n, x, a, b, elements } = inputs;
        let thread = |i: usize| {
            let block = i / width * width;
            let next = block + (i - block + 1) % width;
            let seed = if self.has_barrier { next } else { i + 1 } as u32;
            let conditions = (self.conditions)(i, a.len(), b.len(), *n);
            let mut out = 0;
            (self.body)(i, conditions, x, a, b, *n, seed, &mut out);
            out
        };
        (0..*elements).map(|i| caught(|| thread(i))).collect()
    }
}

thread_local! {
    /// Whether panics of this thread are expected.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The result of a function, or the message that it panics with, which is not printed.
fn caught(function: impl FnOnce() -> u32) -> Value {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_QUIET.get() {
                before(info);
            }
        }));
    });
    IS_QUIET.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(function));
    IS_QUIET.set(false);
    result.map_err(|payload| message(&*payload))
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}
