//! What the tests of the wgpu back end share: kernels, and child processes on lavapipe.

mod child;
mod kernels;

pub use child::{clean_child, count, run_child, spawn_child};
pub use kernels::Kernels;
pub use test_support::child::{Child, LEAKS};
