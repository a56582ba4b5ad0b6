//! Rows of structures that a block has read since memory last changed.

use std::collections::HashMap;

use kernelmill_llvm::ir::Value;

/// Vectors that have been read in a block since memory last changed: of each group all elements of all lanes, in order. The last one overlaps with
/// the one before.
#[derive(Default)]
pub(in crate::cpu::vectorize) struct Rows<'c>(
    pub(super) HashMap<Value<'c>, ((i64, i64), Vec<Value<'c>>)>,
);

impl Rows<'_> {
    /// Forgets what a block has read.
    pub(in crate::cpu::vectorize) fn clear(&mut self) {
        self.0.clear();
    }
}
