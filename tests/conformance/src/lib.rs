//! Kernels that use every part of the language, each with a check against plain Rust on the host.
//!
//! A [`Check`] uploads inputs, launches one kernel on a device, and compares what it computed.
//! The tests of this package run them on the CPU; `tests/gpu-suite` runs them on a GPU as well.

mod atomics;
mod boxes;
mod clock;
mod compare;
mod context;
mod deferred;
mod edges;
mod grid;
mod groups;
mod language;
mod loops;
mod numerics;
mod panics;
mod places;
mod shared;
mod strides;
mod structs;
mod tables;
mod tensor;
mod warp;

mod kernels {
    kernelmill::include_kernels!();
}

use kernelmill::{Device, Stream};
use std::error::Error;

/// Nothing, or what was wrong.
pub type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

/// What a check runs on.
pub struct Context {
    device: Device,
    stream: Stream,
    kernels: kernels::Kernels,
}

impl Context {
    /// Loads the kernels of this package on a device.
    ///
    /// # Errors
    ///
    /// When none of the embedded binaries runs on the device.
    pub fn new(device: Device) -> kernelmill::Result<Self> {
        let kernels = kernels::Kernels::load(&device)?;
        Ok(Self { stream: device.stream(), device, kernels })
    }
}

/// One kernel with its inputs and the result it must give.
#[derive(Clone, Copy)]
pub struct Check {
    /// The kernel's name.
    pub name: &'static str,
    /// Where the kernel means something.
    pub scope: Scope,
    run: fn(&Context) -> Outcome,
}

/// Where a kernel means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// On every device.
    Everywhere,
    /// On the CPU only: GPUs leave the result undefined.
    Cpu,
}

impl Check {
    const fn new(name: &'static str, run: fn(&Context) -> Outcome) -> Self {
        Self { name, scope: Scope::Everywhere, run }
    }

    /// Runs the kernel and compares its result.
    ///
    /// # Errors
    ///
    /// What the device reported, or the first element that differs.
    pub fn run(&self, context: &Context) -> Outcome {
        (self.run)(context)
    }
}

/// Every check, in the order of the kernels' files.
#[must_use]
pub fn all() -> Vec<Check> {
    [
        language::CHECKS,
        loops::CHECKS,
        strides::CHECKS,
        structs::CHECKS,
        clock::CHECKS,
        deferred::CHECKS,
        tables::CHECKS,
        shared::CHECKS,
        atomics::CHECKS,
        warp::CHECKS,
        tensor::CHECKS,
        groups::CHECKS,
        boxes::CHECKS,
        grid::CHECKS,
        numerics::CHECKS,
        context::CHECKS,
        panics::CHECKS,
        places::CHECKS,
        edges::CHECKS,
    ]
    .concat()
}

/// The names of the kernels that are embedded, as their signatures have them.
#[must_use]
pub fn kernel_names() -> Vec<&'static str> {
    kernels::Kernels::signatures().iter().map(|signature| signature.name()).collect()
}
