use std::marker::PhantomData;

use inkwell::context::Context;
use llvm_sys::{core::*, prelude::LLVMBasicBlockRef};

use super::{Value, raw};

/// A basic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block<'c> {
    pub(crate) raw: LLVMBasicBlockRef,
    context: PhantomData<&'c Context>,
}

impl<'c> Block<'c> {
    pub(crate) fn wrap(raw: LLVMBasicBlockRef) -> Self {
        Self::from_raw(raw).expect("LLVM gave no block")
    }

    pub(crate) fn from_raw(raw: LLVMBasicBlockRef) -> Option<Self> {
        (!raw.is_null()).then_some(Self { raw, context: PhantomData })
    }

    /// Appends an empty block to a function.
    #[must_use]
    pub fn append(context: &'c Context, function: Value<'c>, name: &str) -> Self {
        let name = super::value::c_string(name);
        // SAFETY: the function is alive.
        Self::wrap(unsafe {
            LLVMAppendBasicBlockInContext(raw(context), function.raw, name.as_ptr())
        })
    }

    /// Inserts an empty block before this one.
    #[must_use]
    pub fn insert_before(self, context: &'c Context, name: &str) -> Self {
        let name = super::value::c_string(name);
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
        self.instructions()
            .into_iter()
            .find(|instruction| instruction.opcode() != super::Opcode::Phi)
    }

    /// The last instruction, once the block is complete.
    #[must_use]
    pub fn terminator(self) -> Option<Value<'c>> {
        // SAFETY: the block is alive.
        Value::from_raw(unsafe { LLVMGetBasicBlockTerminator(self.raw) })
    }

    /// The blocks control can go to next.
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

    /// Splits the block before `at`: what comes before it, phis included, moves to a new block
    /// that all predecessors now go to and that has no terminator yet. Gives the new block.
    #[must_use]
    pub fn split_before(self, context: &'c Context, at: Value<'c>, name: &str) -> Self {
        let head = self.insert_before(context, name);
        let function = self.function();
        for block in function.blocks() {
            if block != head {
                block.redirect(self, head);
            }
        }
        let builder = super::Builder::new(context);
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
