//! Constants.

use inkwell::context::Context;
use llvm_sys::core::*;

use crate::ir::{Block, Opcode, Type, Value, codes, handle::raw};

// As in `super`, every call passes handles that are alive.
impl<'c> Value<'c> {
    /// This constant pointer, in another address space.
    #[must_use]
    pub fn cast_address_space(self, ty: Type<'c>) -> Self {
        assert!(self.is_constant());
        // SAFETY: both are pointers.
        Self::wrap(unsafe { LLVMConstAddrSpaceCast(self.raw, ty.raw) })
    }

    /// The address of this constant pointer, as an integer.
    #[must_use]
    pub fn constant_address(self, ty: Type<'c>) -> Self {
        assert!(self.is_constant());
        // SAFETY: a pointer and an integer type.
        Self::wrap(unsafe { LLVMConstPtrToInt(self.raw, ty.raw) })
    }

    /// The same cast as this constant expression, of another constant.
    #[must_use]
    pub fn same_cast(self, of: Self) -> Self {
        // SAFETY: the value is a cast, of a constant of the same type as `of`.
        Self::wrap(unsafe {
            match self.constant_opcode() {
                Opcode::PtrToInt => LLVMConstPtrToInt(of.raw, self.ty().raw),
                Opcode::AddrSpaceCast => LLVMConstAddrSpaceCast(of.raw, self.ty().raw),
                other => unreachable!("{other:?} is no cast of an address"),
            }
        })
    }

    /// The element of this index of a constant vector, array or struct; `None` where it is not known.
    #[must_use]
    pub fn constant_element(self, index: u32) -> Option<Self> {
        assert!(self.is_constant());
        // SAFETY: the value is a constant; LLVM gives null where it has no such element.
        Self::from_raw(unsafe { LLVMGetAggregateElement(self.raw, index) })
    }

    /// A constant struct of these fields.
    #[must_use]
    pub fn constant_structure(context: &'c Context, fields: &[Self]) -> Self {
        let mut fields: Vec<_> = fields.iter().map(|field| field.raw).collect();
        // SAFETY: the fields are constants, given with their number.
        Self::wrap(unsafe {
            LLVMConstStructInContext(raw(context), fields.as_mut_ptr(), fields.len() as u32, 0)
        })
    }

    /// The opcode of a constant expression.
    #[must_use]
    pub fn constant_opcode(self) -> Opcode {
        assert!(self.is_constant_expression());
        // SAFETY: the value is a constant expression.
        Opcode::from_code(unsafe { codes::LLVMGetConstOpcode(self.raw) })
    }

    /// The source element type of a `getelementptr`, instruction or constant.
    #[must_use]
    pub fn element_type(self) -> Type<'c> {
        // SAFETY: LLVM gives null for anything else.
        Type::wrap(unsafe { LLVMGetGEPSourceElementType(self.raw) })
    }

    /// For a phi, the block that its operand of this index comes from.
    #[must_use]
    pub fn incoming_block(self, index: u32) -> Option<Block<'c>> {
        (self.is_instruction() && self.opcode() == Opcode::Phi)
            // SAFETY: the value is a phi, the index one of its operands'.
            .then(|| Block::wrap(unsafe { LLVMGetIncomingBlock(self.raw, index) }))
    }

    /// The address `bytes` after this constant pointer.
    #[must_use]
    pub fn constant_offset(self, context: &'c Context, bytes: u64) -> Self {
        let mut index = [Type::int(context, 64).constant(bytes).raw];
        // SAFETY: the value is a constant pointer; one index is given.
        Self::wrap(unsafe {
            LLVMConstInBoundsGEP2(Type::int(context, 8).raw, self.raw, index.as_mut_ptr(), 1)
        })
    }
}
