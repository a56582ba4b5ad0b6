//! What the compiler and the run time agree on of kernels for Vulkan.

/// The length of the array that stands for the dynamic shared memory of a launch, in words: the run time writes
/// the number of the launch's own in its place. No array of a source is so large.
pub const DYNAMIC_SHARED_WORDS: u32 = 0x0badcafe;
