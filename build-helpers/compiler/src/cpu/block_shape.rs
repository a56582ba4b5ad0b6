//! What is known of the size of blocks when a kernel is compiled.

use kernelmill_artifact::{Dimension, Signature};

/// What is known of the size of all blocks of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockShape {
    /// Nothing.
    Any,
    /// They have one thread along y and z, or the kernel does not ask which one along y a thread is.
    Row,
    /// All have this size.
    Exact([u32; 3]),
}

impl BlockShape {
    /// What the signature of a kernel says, and whether its source asks for the place of a thread along y.
    ///
    /// What lowering adds, as the place of a panic, asks for it in every kernel.
    pub(super) fn of(signature: &Signature, asks_for_y: bool) -> Self {
        match (signature.limits.block, signature.dimension) {
            _ if !asks_for_y => Self::Row,
            ([0, 0, 0], Dimension::One) => Self::Row,
            ([0, 0, 0], Dimension::Two | Dimension::Three | Dimension::Any) => Self::Any,
            (block, _) => Self::Exact(block),
        }
    }
}
