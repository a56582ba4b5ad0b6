//! What the tests of the OpenCL back end share: kernels, and child processes on pocl.

mod child;
mod kernels;
#[path = "../../cuda-backend/src/rows.rs"]
mod rows;

pub use child::{Child, LEAKS, clean_child};
pub use kernels::Kernels;
pub use rows::copy_rows;
