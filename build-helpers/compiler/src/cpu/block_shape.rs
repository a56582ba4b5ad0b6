//! What is known of the size of blocks when a kernel is compiled.

use kernelmill_artifact::{Dimension, Signature};

/// What is known of the size of all blocks of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockShape {
    /// Nothing.
    Any,
    /// They have one thread along y and z.
    Row,
    /// All have this size.
    Exact([u32; 3]),
}

impl BlockShape {
    /// What the signature of a kernel says.
    pub(super) fn of(signature: &Signature) -> Self {
        match (signature.limits.block, signature.dimension) {
            ([0, 0, 0], Dimension::One) => Self::Row,
            ([0, 0, 0], Dimension::Two | Dimension::Three | Dimension::Any) => Self::Any,
            (block, _) => Self::Exact(block),
        }
    }
}
