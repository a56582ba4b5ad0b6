//! Exits of a vector body: panics, and the masked body, to which an unmasked body leaves a vector before
//! it has a side effect.

use std::collections::HashSet;

use kernelmill_llvm::ir::Block;

use super::{
    code::{BodyKind, Mask},
    panics::Panics,
    values::Values,
};

/// The ways out of a vector body.
pub(in crate::cpu::vectorize) struct Exits<'c> {
    pub(in crate::cpu::vectorize) kind: BodyKind<'c>,
    pub(in crate::cpu::vectorize) panics: Panics<'c>,
    /// Where a vector is left to the masked body.
    pub(in crate::cpu::vectorize) other: Option<Block<'c>>,
    /// Whether the block that is built has changed memory.
    pub(in crate::cpu::vectorize) changed: bool,
    /// Blocks whose check is known to be passed by all lanes.
    pub(in crate::cpu::vectorize) checked: HashSet<usize>,
}

impl<'c> Exits<'c> {
    /// Where to go from where a block is built to leave the vector to the masked body, if that can be.
    pub(in crate::cpu::vectorize) fn restart(
        &mut self,
        values: &mut Values<'_, 'c>,
        block: usize,
        mask: Mask<'c>,
    ) -> Option<Block<'c>> {
        let has_other = matches!(self.kind, BodyKind::Unmasked { masked: Some(_) });
        if !has_other || mask.is_some() || self.changed || !values.plan.can_restart[block] {
            return None;
        }
        let (context, function) = (values.code.unit.context, values.code.function);
        Some(*self.other.get_or_insert_with(|| Block::append(context, function, "other")))
    }
}
