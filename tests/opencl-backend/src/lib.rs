//! What the tests of the OpenCL back end share: kernels, and child processes on pocl.

mod child;
mod kernels;

pub use child::{Child, LEAKS, clean_child};
pub use kernels::Kernels;
