//! Rows of structures that a block has read since memory last changed.

use std::collections::HashMap;

use kernelmill_llvm::ir::Value;

use super::{super::layout::vector_value::VectorValue, addresses::Root};

/// What has been read in a block since memory last changed.
#[derive(Default)]
pub(in crate::cpu::vectorize) struct Rows<'c> {
    /// Of groups of loads all elements of all lanes.
    pub(super) read: Vec<Row<'c>>,
    /// What loads read that were done together with one before, where it was asked whether they can be.
    pub(super) ahead: HashMap<Value<'c>, VectorValue<'c>>,
}

/// The elements that a group of loads reads.
pub(super) struct Row<'c> {
    pub(super) root: Root<'c>,
    /// Bytes from the root to the first byte and behind the last one.
    pub(super) bytes: (i64, i64),
    /// In order. The last one overlaps with the one before.
    pub(super) vectors: Vec<Value<'c>>,
}

impl Rows<'_> {
    /// Forgets what a block has read.
    pub(in crate::cpu::vectorize) fn clear(&mut self) {
        self.read.clear();
        self.ahead.clear();
    }
}
