//! The kernels of this package.

kernelmill::include_kernels!();
