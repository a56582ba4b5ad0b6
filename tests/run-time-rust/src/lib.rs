//! The wrappers of kernels that are compiled at run time.

/// The kernels, and their bitcode.
pub mod kernels {
    kernelmill::include_kernels!();
}
