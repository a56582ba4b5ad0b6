//! The wrappers that the build generates.

kernelmill::include_kernels!();
