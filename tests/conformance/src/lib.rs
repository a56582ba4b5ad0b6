//! Kernels that use every part of the language, each with a check against plain Rust on the host.
//!
//! A [`Check`] uploads inputs, launches one kernel on a device, and compares what it computed.
//! The tests of this package run them on the CPU; `tests/gpu-suite` runs them on a GPU as well.

mod atomics;
mod boxes;
mod check;
mod checks;
mod clock;
mod compare;
mod context;
mod deferred;
mod edges;
mod exits;
mod grid;
mod grid_sync;
mod groups;
mod kernels;
mod language;
mod loops;
mod neighbours;
mod numerics;
mod panics;
mod places;
mod shared;
mod sharing;
mod stack;
mod strides;
mod structs;
mod tables;
mod tensor;
mod warp;
mod written;

pub use check::{Check, Context, Outcome, Scope};
pub use stack::deep;

/// Every check, in the order of the kernels' files.
#[must_use]
pub fn all() -> Vec<Check> {
    [
        language::CHECKS,
        loops::CHECKS,
        neighbours::CHECKS,
        strides::CHECKS,
        structs::CHECKS,
        written::CHECKS,
        clock::CHECKS,
        deferred::CHECKS,
        tables::CHECKS,
        shared::CHECKS,
        sharing::CHECKS,
        atomics::CHECKS,
        warp::CHECKS,
        tensor::CHECKS,
        groups::CHECKS,
        boxes::CHECKS,
        grid::CHECKS,
        grid_sync::CHECKS,
        numerics::CHECKS,
        context::CHECKS,
        panics::CHECKS,
        places::CHECKS,
        edges::CHECKS,
        exits::CHECKS,
        checks::CHECKS,
        stack::CHECKS,
    ]
    .concat()
}

/// The binaries that are embedded.
#[must_use]
pub fn embedded() -> &'static [kernelmill::EmbeddedArtifact] {
    kernels::Kernels::embedded()
}

/// The signatures of the kernels, which embedded binaries refer to by index.
#[must_use]
pub fn signatures() -> &'static [kernelmill::Signature] {
    kernels::Kernels::signatures()
}

/// The names of the kernels that are embedded, as their signatures have them.
#[must_use]
pub fn kernel_names() -> Vec<&'static str> {
    kernels::Kernels::signatures().iter().map(|signature| signature.name()).collect()
}
