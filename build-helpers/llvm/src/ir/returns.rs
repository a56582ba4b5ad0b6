//! Merging of returns, as LLVM's pass `mergereturn` does it, which LLVM 23 removed.

use inkwell::context::Context;

use super::{Block, Builder, Opcode, Value};

impl<'c> Value<'c> {
    /// Replaces the `ret` of every block that `is_merged` selects by a branch to one new block, which
    /// returns the same value. Does nothing with fewer than two such blocks.
    pub fn merge_returns(self, context: &'c Context, is_merged: impl Fn(Block<'c>) -> bool) {
        let ends = self.blocks().into_iter().filter(|block| is_merged(*block));
        let ends = ends.filter_map(Block::terminator).filter(|end| end.opcode() == Opcode::Ret);
        let returns: Vec<_> = ends.collect();
        if returns.len() < 2 {
            return;
        }
        let builder = Builder::new(context);
        let merged = Block::append(context, self, "return");
        builder.at_end(merged);
        let ty = self.value_type().result();
        let result = (!returns[0].operands().is_empty()).then(|| builder.phi(ty));
        builder.ret(result);
        for end in returns {
            let block = end.block();
            if let Some(phi) = result {
                phi.add_incoming(end.operand(0), block);
            }
            end.erase();
            builder.at_end(block);
            builder.branch(merged);
        }
    }
}
