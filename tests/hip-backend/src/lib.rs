//! What the tests of the HIP back end share: child processes on the fake HIP run time, the registration of
//! kernels with it, and the kernels of the examples.

#[path = "../../cuda-backend/src/awaits.rs"]
mod awaits;
#[allow(dead_code, reason = "what the suite for GPUs measures is not asked for here")]
#[path = "../../gpu-suite/src/cases.rs"]
mod cases;
mod child;
mod copies;
mod examples;
#[path = "../../cuda-backend/src/executor.rs"]
mod executor;
mod kernels;
#[path = "../../cuda-backend/src/many.rs"]
mod many;
mod register;
#[path = "../../cuda-backend/src/rows.rs"]
mod rows;

pub use awaits::awaits;
pub use child::{clean_child, run_child, spawn_child};
pub use copies::{Copy, PADDING, copies};
pub use examples::{Example, examples};
pub use executor::{Wakes, block_on};
pub use kernels::{Filter, Kernels};
pub use many::{fresh_contexts, many_modules};
pub use register::register;
pub use rows::copy_rows;

/// Registers the kernels of `tests/conformance`.
///
/// # Panics
///
/// Where the fake HIP run time is not in the library path.
pub fn register_conformance() {
    register(conformance::embedded(), conformance::signatures());
}

/// Registers the kernels of this package.
///
/// # Panics
///
/// As [`register_conformance`].
pub fn register_own() {
    register(Kernels::embedded(), Kernels::signatures());
}
pub use test_support::child::{Child, LEAKS, is_child};
