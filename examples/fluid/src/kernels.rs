//! The kernels with their typed wrappers, as the build script generates them.

kernelmill::include_kernels!();
