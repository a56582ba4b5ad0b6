//! What the tests of the CUDA back end share: a kernel in PTX with its wrapper, and processes that
//! find the fake driver as theirs.

mod awaits;
mod child;
mod executor;
mod gate;
mod interop;
mod kernels;
mod many;
mod rows;

pub use awaits::awaits;
pub use child::{
    clean_child, fake_child, is_driver_real, is_left_out, run_child, say_left_out, spawn_child,
};
pub use executor::{Wakes, block_on};
pub use gate::Gate;
pub use interop::{adopt, cuda_stream, cudarc};
pub use kernels::{Kernels, copy, copy_for, copy_with};
pub use many::{fresh_contexts, many_modules};
pub use rows::copy_rows;
pub use test_support::child::{Child, LEAKS, is_child};
