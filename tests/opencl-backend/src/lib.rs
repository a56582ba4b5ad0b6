//! What the tests of the OpenCL back end share: kernels, and child processes on pocl.

mod child;
mod copies;
mod kernels;
mod layer;
#[path = "../../cuda-backend/src/many.rs"]
mod many;

pub use child::{clean_child, run_child};
pub use copies::Copy;
pub use kernels::Kernels;
pub use layer::Layer;
pub use many::{fresh_contexts, many_modules};
pub use test_support::child::{Child, LEAKS};
