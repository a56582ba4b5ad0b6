//! What the tests of the HIP back end share: child processes on the fake HIP run time, the registration of
//! kernels with it, and some kernels.

mod child;
mod kernels;
mod register;

pub use child::{Child, LEAKS, clean_child};
pub use kernels::Kernels;
pub use register::{register, register_conformance, register_own};
