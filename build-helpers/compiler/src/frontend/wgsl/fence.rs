//! Fences in what the compiler writes.

/// The function that stands for a fence of all memory, which WGSL has not, in what the compiler writes.
pub(crate) const FENCE: &str = "fence";
