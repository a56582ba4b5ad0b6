//! What the compiler and the run time agree on of kernels for Vulkan: numbers that the run time finds in a module when it
//! loads it, and replaces. No source has them.

/// The length of the array that stands for the dynamic shared memory of a launch, in words: the number of the launch's own
/// takes its place.
pub const DYNAMIC_SHARED_WORDS: u32 = 0x0bad_cafe;

/// What tells whether the device rounds a multiplication and an addition once, for `f32` and for `f64`: 1 takes its place
/// where it does, as an entry point of the module has found out ([`FUSED_PROBES`]).
pub const FUSED: [u32; 2] = [0x5f3c_a9d1, 0x5f3c_a9d2];

/// The names of entry points that find it out. In group 0 they have one buffer of words, with two numbers, and behind them place for
/// their product, and for what its rounding has lost, by a fused addition.
pub const FUSED_PROBES: [&str; 2] = ["__kernelmill_fused32", "__kernelmill_fused64"];
