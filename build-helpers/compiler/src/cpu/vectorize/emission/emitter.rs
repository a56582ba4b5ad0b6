//! The emitter of a vector body: its values, its exits, and its control flow as far as it is built.

use std::collections::HashMap;

use kernelmill_llvm::ir::{Block, Value};

use super::{super::analysis::plan::DivergentRegion, exits::Exits, rows::Rows, values::Values};

/// Builds a vector body.
pub(in crate::cpu::vectorize) struct Emitter<'a, 'c> {
    pub(in crate::cpu::vectorize) values: Values<'a, 'c>,
    pub(in crate::cpu::vectorize) exits: Exits<'c>,
    /// For blocks of divergent regions: the threads that come to it.
    pub(in crate::cpu::vectorize) masks: HashMap<usize, Value<'c>>,
    /// For headers of divergent loops: the threads that iterate once more.
    pub(in crate::cpu::vectorize) live: HashMap<usize, Value<'c>>,
    /// For blocks that all threads of the mask reach together: the block that is built.
    pub(in crate::cpu::vectorize) blocks: HashMap<usize, Block<'c>>,
    pub(in crate::cpu::vectorize) divergent_regions: HashMap<usize, DivergentRegion>,
    /// What the block that is built has read of structures that lie one after the other.
    pub(in crate::cpu::vectorize) rows: Rows<'c>,
}
