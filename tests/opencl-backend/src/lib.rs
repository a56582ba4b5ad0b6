//! What the tests of the OpenCL back end share: kernels, and child processes on pocl.

#[path = "../../cuda-backend/src/awaits.rs"]
mod awaits;
mod child;
mod copies;
#[path = "../../cuda-backend/src/executor.rs"]
mod executor;
mod kernels;
mod layer;
#[path = "../../cuda-backend/src/many.rs"]
mod many;
#[path = "../../cuda-backend/src/rows.rs"]
mod rows;

pub use awaits::awaits;
pub use child::{clean_child, run_child};
pub use copies::Copy;
pub use executor::{Wakes, block_on};
pub use kernels::Kernels;
pub use layer::Layer;
pub use many::{fresh_contexts, many_modules};
pub use rows::copy_rows;
pub use test_support::child::{Child, LEAKS};
