//! Basic blocks: instructions, edges, splitting and moving.

use inkwell::context::Context;
use llvm_sys::core::*;

use super::{Block, Builder, Opcode, Value, handle::raw};
use crate::strings::c_string;

impl<'c> Block<'c> {
    /// Appends an empty block to a function.
    #[must_use]
    pub fn append(context: &'c Context, function: Value<'c>, name: &str) -> Self {
        let name = c_string(name);
        // SAFETY: the function is alive.
        Self::wrap(unsafe {
            LLVMAppendBasicBlockInContext(raw(context), function.raw, name.as_ptr())
        })
    }

    /// Inserts an empty block before this one.
    #[must_use]
    pub fn insert_before(self, context: &'c Context, name: &str) -> Self {
        let name = c_string(name);
        // SAFETY: the block is alive and in a function.
        Self::wrap(unsafe { LLVMInsertBasicBlockInContext(raw(context), self.raw, name.as_ptr()) })
    }

    /// The function it belongs to.
    #[must_use]
    pub fn function(self) -> Value<'c> {
        // SAFETY: the block is alive and in a function.
        Value::wrap(unsafe { LLVMGetBasicBlockParent(self.raw) })
    }

    /// The instructions, in order.
    #[must_use]
    pub fn instructions(self) -> Vec<Value<'c>> {
        // SAFETY: the block is alive.
        let first = Value::from_raw(unsafe { LLVMGetFirstInstruction(self.raw) });
        std::iter::successors(first, |instruction| instruction.next_instruction()).collect()
    }

    /// The first instruction that is no phi.
    #[must_use]
    pub fn first_after_phis(self) -> Option<Value<'c>> {
        self.instructions().into_iter().find(|instruction| instruction.opcode() != Opcode::Phi)
    }

    /// The last instruction, once the block is complete.
    #[must_use]
    pub fn terminator(self) -> Option<Value<'c>> {
        // SAFETY: the block is alive.
        Value::from_raw(unsafe { LLVMGetBasicBlockTerminator(self.raw) })
    }

    /// The successors, in the order of the terminator's operands.
    #[must_use]
    pub fn successors(self) -> Vec<Self> {
        let Some(terminator) = self.terminator() else { return Vec::new() };
        // SAFETY: the terminator is alive, and the index is below the number of successors.
        unsafe {
            (0..LLVMGetNumSuccessors(terminator.raw))
                .map(|index| Self::wrap(LLVMGetSuccessor(terminator.raw, index)))
                .collect()
        }
    }

    /// Takes the block out of its function and appends it to another.
    pub fn move_to(self, function: Value<'c>) {
        // SAFETY: block and function are alive.
        unsafe {
            LLVMRemoveBasicBlockFromParent(self.raw);
            LLVMAppendExistingBasicBlock(function.raw, self.raw);
        }
    }

    /// Splits the block before `at`. The instructions before it, phis included, move to a new block,
    /// which is returned; it takes over all predecessors and has no terminator yet.
    #[must_use]
    pub fn split_before(self, context: &'c Context, at: Value<'c>, name: &str) -> Self {
        let head = self.insert_before(context, name);
        let function = self.function();
        for block in function.blocks() {
            if block != head {
                block.redirect(self, head);
            }
        }
        let builder = Builder::new(context);
        builder.at_end(head);
        for instruction in self.instructions() {
            if instruction == at {
                break;
            }
            builder.move_here(instruction);
        }
        head
    }

    /// Makes every edge from this block to `from` go to `to`.
    pub fn redirect(self, from: Self, to: Self) {
        let Some(terminator) = self.terminator() else { return };
        // SAFETY: the terminator and both blocks are alive; indices are below the number of
        // successors.
        unsafe {
            for index in 0..LLVMGetNumSuccessors(terminator.raw) {
                if LLVMGetSuccessor(terminator.raw, index) == from.raw {
                    LLVMSetSuccessor(terminator.raw, index, to.raw);
                }
            }
        }
    }
}
