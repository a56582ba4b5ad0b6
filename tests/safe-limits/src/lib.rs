//! Wrappers of kernels that ask for too much.

mod kernels {
    kernelmill::include_kernels!();
}

pub use kernels::Kernels;
