use kernelmill_device::prelude::*;

/// Does nothing.
#[kernel]
pub fn empty(_nothing: u32) {}
