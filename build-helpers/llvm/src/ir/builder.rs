//! The builder: makes instructions, one after the other, at a position in a block.

use inkwell::context::Context;
use llvm_sys::{core::*, prelude::LLVMBuilderRef};
use std::marker::PhantomData;

use super::{
    AtomicOperation, AtomicOrdering, Block, IntPredicate, Type, Value, codes, handle::raw,
};
use crate::strings::c_string;

/// Makes instructions at a position in a block.
#[derive(Debug)]
pub struct Builder<'c> {
    raw: LLVMBuilderRef,
    context: PhantomData<&'c Context>,
}

/// The name of a value that needs none.
const NAMELESS: *const std::ffi::c_char = c"".as_ptr();

// Every call below passes handles that are alive by the rule of the module, to a builder that
// has been positioned in a block.
impl<'c> Builder<'c> {
    pub(crate) fn raw(&self) -> LLVMBuilderRef {
        self.raw
    }

    /// A builder without a position.
    #[must_use]
    pub fn new(context: &'c Context) -> Self {
        // SAFETY: the context is alive.
        Self { raw: unsafe { LLVMCreateBuilderInContext(raw(context)) }, context: PhantomData }
    }

    /// Positions the builder at the end of a block.
    pub fn at_end(&self, block: Block<'c>) {
        // SAFETY: the block is alive.
        unsafe { LLVMPositionBuilderAtEnd(self.raw, block.raw) }
    }

    /// Positions the builder before an instruction, and adopts its source location.
    pub fn before(&self, instruction: Value<'c>) {
        // SAFETY: the instruction is in a block.
        unsafe { LLVMPositionBuilderBefore(self.raw, instruction.raw) }
    }

    /// Adopts the source location of an instruction for what is built from now on.
    pub fn take_line(&self, instruction: Value<'c>) {
        // SAFETY: the instruction is one, whose location may be null: there is none then.
        unsafe {
            let line = llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(instruction.raw);
            LLVMSetCurrentDebugLocation2(self.raw, line);
        }
    }

    /// The block the builder is in.
    #[must_use]
    pub fn block(&self) -> Block<'c> {
        // SAFETY: the builder stands in a block.
        Block::wrap(unsafe { LLVMGetInsertBlock(self.raw) })
    }

    /// Moves an existing instruction here.
    pub fn move_here(&self, instruction: Value<'c>) {
        let name = c_string(&instruction.name());
        // SAFETY: the instruction is in a block; it is inserted again at once.
        unsafe {
            LLVMInstructionRemoveFromParent(instruction.raw);
            LLVMInsertIntoBuilderWithName(self.raw, instruction.raw, name.as_ptr());
        }
    }

    /// A stack slot of this type.
    #[must_use]
    pub fn alloca(&self, ty: Type<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildAlloca(self.raw, ty.raw, NAMELESS) })
    }

    /// Reads a value of this type.
    #[must_use]
    pub fn load(&self, ty: Type<'c>, pointer: Value<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildLoad2(self.raw, ty.raw, pointer.raw, NAMELESS) })
    }

    /// Writes a value.
    pub fn store(&self, value: Value<'c>, pointer: Value<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildStore(self.raw, value.raw, pointer.raw) })
    }

    /// The address of element `index` of an array of `ty` at `pointer`.
    #[must_use]
    pub fn element(&self, ty: Type<'c>, pointer: Value<'c>, index: Value<'c>) -> Value<'c> {
        let mut indices = [index.raw];
        // SAFETY: see above; one index is given.
        Value::wrap(unsafe {
            LLVMBuildInBoundsGEP2(self.raw, ty.raw, pointer.raw, indices.as_mut_ptr(), 1, NAMELESS)
        })
    }

    /// The address that a `getelementptr` of these indices gives.
    #[must_use]
    pub fn elements(&self, ty: Type<'c>, pointer: Value<'c>, indices: &[Value<'c>]) -> Value<'c> {
        let mut indices: Vec<_> = indices.iter().map(|index| index.raw).collect();
        // SAFETY: see above; the indices are given with their number.
        Value::wrap(unsafe {
            LLVMBuildGEP2(
                self.raw,
                ty.raw,
                pointer.raw,
                indices.as_mut_ptr(),
                indices.len() as u32,
                NAMELESS,
            )
        })
    }

    /// Orders memory accesses between threads.
    pub fn fence(&self, ordering: AtomicOrdering) {
        // SAFETY: see above.
        unsafe { codes::LLVMBuildFence(self.raw, ordering.code(), 0, NAMELESS) };
    }

    /// Copies `bytes` bytes between ranges that do not overlap (`llvm.memcpy`); both addresses have
    /// this alignment.
    pub fn copy_bytes(&self, to: Value<'c>, from: Value<'c>, align: u32, bytes: Value<'c>) {
        // SAFETY: see above.
        unsafe { LLVMBuildMemCpy(self.raw, to.raw, align, from.raw, align, bytes.raw) };
    }

    /// Sets `bytes` bytes from an address with this alignment to zero.
    pub fn clear_bytes(&self, context: &'c Context, at: Value<'c>, align: u32, bytes: Value<'c>) {
        self.fill_bytes(context, at, 0, align, bytes);
    }

    /// Sets `bytes` bytes from an address with this alignment to `byte` (`llvm.memset`).
    pub fn fill_bytes(
        &self,
        context: &'c Context,
        at: Value<'c>,
        byte: u8,
        align: u32,
        bytes: Value<'c>,
    ) {
        let byte = Type::int(context, 8).constant(u64::from(byte));
        // SAFETY: see above.
        unsafe { LLVMBuildMemSet(self.raw, at.raw, byte.raw, bytes.raw, align) };
    }

    /// The address `bytes` after `pointer`.
    #[must_use]
    pub fn offset(&self, context: &'c Context, pointer: Value<'c>, bytes: u64) -> Value<'c> {
        let index = Type::int(context, 64).constant(bytes);
        self.element(Type::int(context, 8), pointer, index)
    }

    /// Calls a function.
    pub fn call(&self, function: Value<'c>, arguments: &[Value<'c>]) -> Value<'c> {
        self.call_pointer(function.value_type(), function, arguments)
    }

    /// Calls a pointer to a function of this type.
    pub fn call_pointer(
        &self,
        ty: Type<'c>,
        pointer: Value<'c>,
        arguments: &[Value<'c>],
    ) -> Value<'c> {
        let mut arguments: Vec<_> = arguments.iter().map(|argument| argument.raw).collect();
        // SAFETY: see above; the arguments are given with their number, and LLVM's verifier
        // checks their types.
        Value::wrap(unsafe {
            LLVMBuildCall2(
                self.raw,
                ty.raw,
                pointer.raw,
                arguments.as_mut_ptr(),
                arguments.len() as u32,
                NAMELESS,
            )
        })
    }

    /// An unconditional branch to `block`.
    pub fn branch(&self, block: Block<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildBr(self.raw, block.raw) })
    }

    /// A conditional branch to one of two blocks.
    pub fn branch_if(&self, condition: Value<'c>, yes: Block<'c>, no: Block<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildCondBr(self.raw, condition.raw, yes.raw, no.raw) })
    }

    /// A `switch` on the value, with `otherwise` as its default; cases are added afterwards.
    pub fn switch(&self, value: Value<'c>, otherwise: Block<'c>, cases: u32) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildSwitch(self.raw, value.raw, otherwise.raw, cases) })
    }

    /// Returns, with a value or without.
    pub fn ret(&self, value: Option<Value<'c>>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe {
            match value {
                Some(value) => LLVMBuildRet(self.raw, value.raw),
                None => LLVMBuildRetVoid(self.raw),
            }
        })
    }

    /// An `unreachable`.
    pub fn unreachable(&self) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildUnreachable(self.raw) })
    }

    /// A phi without incoming values.
    #[must_use]
    pub fn phi(&self, ty: Type<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildPhi(self.raw, ty.raw, NAMELESS) })
    }

    /// `left + right`.
    #[must_use]
    pub fn add(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildAdd(self.raw, left.raw, right.raw, NAMELESS) })
    }

    /// `left + right`, which overflows neither as signed nor as unsigned (`nsw`, `nuw`).
    #[must_use]
    pub fn add_no_wrap(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        // SAFETY: see above; the flag is one of an addition.
        unsafe {
            let sum = LLVMBuildNSWAdd(self.raw, left.raw, right.raw, NAMELESS);
            if LLVMIsAInstruction(sum) == sum {
                LLVMSetNUW(sum, 1);
            }
            Value::wrap(sum)
        }
    }

    /// `left * right`.
    #[must_use]
    pub fn multiply(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildMul(self.raw, left.raw, right.raw, NAMELESS) })
    }

    /// `left & right`.
    #[must_use]
    pub fn and(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildAnd(self.raw, left.raw, right.raw, NAMELESS) })
    }

    /// Compares two integers or pointers.
    #[must_use]
    pub fn compare(&self, predicate: IntPredicate, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe {
            codes::LLVMBuildICmp(self.raw, predicate.code(), left.raw, right.raw, NAMELESS)
        })
    }

    /// The integer widened with zeros.
    #[must_use]
    pub fn zero_extend(&self, value: Value<'c>, ty: Type<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildZExt(self.raw, value.raw, ty.raw, NAMELESS) })
    }

    /// The integer's low bits.
    #[must_use]
    pub fn truncate(&self, value: Value<'c>, ty: Type<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildTrunc(self.raw, value.raw, ty.raw, NAMELESS) })
    }

    /// The address as an integer.
    #[must_use]
    pub fn pointer_to_int(&self, value: Value<'c>, ty: Type<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildPtrToInt(self.raw, value.raw, ty.raw, NAMELESS) })
    }

    /// The pointer with this address.
    #[must_use]
    pub fn int_to_pointer(&self, value: Value<'c>, ty: Type<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildIntToPtr(self.raw, value.raw, ty.raw, NAMELESS) })
    }

    /// The pointer in another address space.
    #[must_use]
    pub fn address_space_cast(&self, value: Value<'c>, ty: Type<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildAddrSpaceCast(self.raw, value.raw, ty.raw, NAMELESS) })
    }

    /// One field of a struct value.
    #[must_use]
    pub fn extract(&self, aggregate: Value<'c>, index: u32) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildExtractValue(self.raw, aggregate.raw, index, NAMELESS) })
    }

    /// An `atomicrmw`; its result is the old value.
    pub fn atomic(
        &self,
        operation: AtomicOperation,
        pointer: Value<'c>,
        value: Value<'c>,
        ordering: AtomicOrdering,
    ) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe {
            codes::LLVMBuildAtomicRMW(
                self.raw,
                operation.code(),
                pointer.raw,
                value.raw,
                ordering.code(),
                0,
            )
        })
    }
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: the builder is owned.
        unsafe { LLVMDisposeBuilder(self.raw) }
    }
}
