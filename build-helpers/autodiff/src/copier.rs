//! Copies of a function's body into another function.

use std::collections::HashMap;

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Block, Builder, Opcode, Value},
};

use crate::analysis::reverse_postorder;

/// A map from values and blocks of a function to those of its copy.
pub(crate) struct Copier<'c> {
    pub(crate) values: HashMap<Value<'c>, Value<'c>>,
    pub(crate) blocks: HashMap<Block<'c>, Block<'c>>,
    /// The blocks of the original that can be reached, each after those that dominate it.
    pub(crate) order: Vec<Block<'c>>,
    pub(crate) builder: Builder<'c>,
}

impl<'c> Copier<'c> {
    /// Makes an empty block in `to` for each block of `from`.
    pub(crate) fn new(context: &'c Context, from: Value<'c>, to: Value<'c>) -> Self {
        let order = reverse_postorder(from);
        let blocks =
            order.iter().map(|block| (*block, Block::append(context, to, "forward"))).collect();
        Self { values: HashMap::new(), blocks, order, builder: Builder::new(context) }
    }

    /// The value in the copy.
    pub(crate) fn value(&self, value: Value<'c>) -> Value<'c> {
        self.values.get(&value).copied().unwrap_or(value)
    }

    /// Copies an instruction to the builder's position. Incoming values of phis are added by
    /// [`Copier::finish_phis`].
    pub(crate) fn instruction(&mut self, instruction: Value<'c>) -> Value<'c> {
        if instruction.opcode() == Opcode::Phi {
            let phi = self.builder.phi(instruction.ty());
            self.values.insert(instruction, phi);
            return phi;
        }
        let copy = self.builder.copy(instruction);
        for (index, operand) in instruction.operands().into_iter().enumerate() {
            if let Some(&mapped) = self.values.get(&operand) {
                copy.set_operand(index as u32, mapped);
            }
        }
        let here = self.builder.block();
        if here.terminator() == Some(copy) {
            for next in instruction.block().successors() {
                here.redirect(next, self.blocks[&next]);
            }
        }
        self.values.insert(instruction, copy);
        copy
    }

    /// Copies everything.
    pub(crate) fn all(&mut self) {
        for block in self.order.clone() {
            self.builder.at_end(self.blocks[&block]);
            for instruction in block.instructions() {
                self.instruction(instruction);
            }
        }
        self.finish_phis();
    }

    /// Adds the incoming values of the copied phis.
    pub(crate) fn finish_phis(&self) {
        for block in &self.order {
            for phi in block.instructions() {
                if phi.opcode() != Opcode::Phi {
                    break;
                }
                let copy = self.values[&phi];
                for (value, from) in incoming(phi) {
                    if let Some(&from) = self.blocks.get(&from) {
                        copy.add_incoming(self.value(value), from);
                    }
                }
            }
        }
    }
}

/// The incoming values of a phi, with their blocks.
pub(crate) fn incoming(phi: Value<'_>) -> Vec<(Value<'_>, Block<'_>)> {
    let operands = phi.operands().into_iter().enumerate();
    operands.filter_map(|(index, value)| Some((value, phi.incoming_block(index as u32)?))).collect()
}
