//! What the tests of the wgpu back end share: kernels, and child processes on lavapipe.

mod child;
mod kernels;

pub use child::{Child, LEAKS, clean_child, count};
pub use kernels::Kernels;
