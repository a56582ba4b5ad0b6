//! What the tests of the OpenCL back end share: kernels, and child processes on pocl.

mod child;
mod copies;
mod kernels;
#[path = "../../cuda-backend/src/many.rs"]
mod many;
#[path = "../../cuda-backend/src/rows.rs"]
mod rows;

pub use child::{Child, LEAKS, clean_child};
pub use copies::Copy;
pub use kernels::Kernels;
pub use many::{fresh_contexts, many_modules};
pub use rows::copy_rows;
