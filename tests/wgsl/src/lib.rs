//! Kernels in WGSL, with their wrappers.

pub mod kernels;
