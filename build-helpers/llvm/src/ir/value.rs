use std::{ffi::CString, marker::PhantomData};

use inkwell::context::Context;
use llvm_sys::{
    LLVMLinkage, LLVMOpcode, LLVMUnnamedAddr, LLVMValueKind, LLVMVisibility, core::*,
    prelude::LLVMValueRef,
};

use super::{Block, Type, attribute_kind, raw};

/// A value: function, global, instruction, parameter or constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value<'c> {
    pub(crate) raw: LLVMValueRef,
    context: PhantomData<&'c Context>,
}

/// Where an attribute of a function or call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the function.
    Function,
    /// On the result.
    Result,
    /// On the parameter of this index, from 0.
    Parameter(u32),
}

impl Place {
    fn index(self) -> u32 {
        match self {
            Self::Function => llvm_sys::LLVMAttributeFunctionIndex,
            Self::Result => llvm_sys::LLVMAttributeReturnIndex,
            Self::Parameter(index) => index + 1,
        }
    }
}

pub(super) fn c_string(text: &str) -> CString {
    CString::new(text).expect("names in LLVM have no zero bytes")
}

// Every call below passes handles that are alive by the rule of the module, so each `unsafe`
// block names only what it needs beyond that.
impl<'c> Value<'c> {
    pub(crate) fn wrap(raw: LLVMValueRef) -> Self {
        Self::from_raw(raw).expect("LLVM gave no value")
    }

    pub(crate) fn from_raw(raw: LLVMValueRef) -> Option<Self> {
        (!raw.is_null()).then_some(Self { raw, context: PhantomData })
    }

    /// Its name; empty where it has none.
    #[must_use]
    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: LLVM gives the text with its length, owned by the value.
        let bytes = unsafe {
            let text = LLVMGetValueName2(self.raw, &raw mut length);
            std::slice::from_raw_parts(text.cast::<u8>(), length)
        };
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Renames it; LLVM adds a suffix where the name is taken.
    pub fn set_name(self, name: &str) {
        // SAFETY: the name is given with its length.
        unsafe { LLVMSetValueName2(self.raw, name.as_ptr().cast(), name.len()) }
    }

    /// Its type.
    #[must_use]
    pub fn ty(self) -> Type<'c> {
        // SAFETY: the value is alive.
        Type::wrap(unsafe { LLVMTypeOf(self.raw) })
    }

    /// The type of a function, or of what a global holds.
    #[must_use]
    pub fn value_type(self) -> Type<'c> {
        assert!(self.is_function() || self.is_global());
        // SAFETY: the value is a global object.
        Type::wrap(unsafe { LLVMGlobalGetValueType(self.raw) })
    }

    fn kind(self) -> LLVMValueKind {
        // SAFETY: the value is alive.
        unsafe { LLVMGetValueKind(self.raw) }
    }

    /// Whether it is a function.
    #[must_use]
    pub fn is_function(self) -> bool {
        self.kind() == LLVMValueKind::LLVMFunctionValueKind
    }

    /// Whether it is a global variable.
    #[must_use]
    pub fn is_global(self) -> bool {
        self.kind() == LLVMValueKind::LLVMGlobalVariableValueKind
    }

    /// Whether it is an instruction.
    #[must_use]
    pub fn is_instruction(self) -> bool {
        self.kind() == LLVMValueKind::LLVMInstructionValueKind
    }

    /// Whether it is a constant, a global or function included.
    #[must_use]
    pub fn is_constant(self) -> bool {
        // SAFETY: the value is alive.
        unsafe { LLVMIsConstant(self.raw) != 0 }
    }

    /// Whether it is a constant expression.
    #[must_use]
    pub fn is_constant_expression(self) -> bool {
        self.kind() == LLVMValueKind::LLVMConstantExprValueKind
    }

    /// The value of an integer constant of at most 64 bits.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        (self.kind() == LLVMValueKind::LLVMConstantIntValueKind)
            // SAFETY: the value is a constant integer.
            .then(|| unsafe { LLVMConstIntGetZExtValue(self.raw) })
    }

    /// The bytes of a constant array of bytes.
    #[must_use]
    pub fn as_bytes(self) -> Option<&'c [u8]> {
        // SAFETY: the value is a constant array of bytes where its text is asked for; the text
        // lives as long as the context.
        unsafe {
            if LLVMIsAConstantDataSequential(self.raw).is_null()
                || LLVMIsConstantString(self.raw) == 0
            {
                return None;
            }
            let mut length = 0;
            let text = LLVMGetAsString(self.raw, &raw mut length);
            Some(std::slice::from_raw_parts(text.cast(), length))
        }
    }

    /// Its users, each as often as it uses the value.
    #[must_use]
    pub fn users(self) -> Vec<Self> {
        // SAFETY: uses are walked without changing them.
        unsafe {
            let mut users = Vec::new();
            let mut usage = LLVMGetFirstUse(self.raw);
            while !usage.is_null() {
                users.push(Self::wrap(LLVMGetUser(usage)));
                usage = LLVMGetNextUse(usage);
            }
            users
        }
    }

    /// Whether anything uses it.
    #[must_use]
    pub fn is_used(self) -> bool {
        // SAFETY: the value is alive.
        unsafe { !LLVMGetFirstUse(self.raw).is_null() }
    }

    /// Makes every user use `other`, which must have the same type.
    pub fn replace_with(self, other: Self) {
        assert_eq!(self.ty(), other.ty(), "replacing {self:?}");
        // SAFETY: both values are alive and of one type.
        unsafe { LLVMReplaceAllUsesWith(self.raw, other.raw) }
    }

    /// The operands.
    #[must_use]
    pub fn operands(self) -> Vec<Self> {
        // SAFETY: indices are below the number of operands.
        unsafe {
            (0..LLVMGetNumOperands(self.raw).max(0) as u32)
                .filter_map(|index| Self::from_raw(LLVMGetOperand(self.raw, index)))
                .collect()
        }
    }

    /// The operand of this index.
    #[must_use]
    pub fn operand(self, index: u32) -> Self {
        // SAFETY: LLVM gives null for operands that are not there.
        Self::wrap(unsafe { LLVMGetOperand(self.raw, index) })
    }

    /// Replaces one operand.
    pub fn set_operand(self, index: u32, value: Self) {
        // SAFETY: both values are alive.
        unsafe { LLVMSetOperand(self.raw, index, value.raw) }
    }

    // Functions and globals.

    /// Whether it has no body or initial value here.
    #[must_use]
    pub fn is_declaration(self) -> bool {
        // SAFETY: the value is a global object.
        unsafe { LLVMIsDeclaration(self.raw) != 0 }
    }

    /// Whether it is one of LLVM's own functions.
    #[must_use]
    pub fn is_intrinsic(self) -> bool {
        self.is_function() && self.name().starts_with("llvm.")
    }

    /// Its linkage.
    #[must_use]
    pub fn linkage(self) -> LLVMLinkage {
        // SAFETY: the value is a global object.
        unsafe { LLVMGetLinkage(self.raw) }
    }

    /// Changes its linkage.
    pub fn set_linkage(self, linkage: LLVMLinkage) {
        // SAFETY: the value is a global object.
        unsafe { LLVMSetLinkage(self.raw, linkage) }
    }

    /// Changes its visibility.
    pub fn set_visibility(self, visibility: LLVMVisibility) {
        // SAFETY: the value is a global object.
        unsafe { LLVMSetVisibility(self.raw, visibility) }
    }

    /// Says whether its address matters.
    pub fn set_unnamed_address(self, unnamed: LLVMUnnamedAddr) {
        // SAFETY: the value is a global object.
        unsafe { LLVMSetUnnamedAddress(self.raw, unnamed) }
    }

    /// Takes it out of its group of definitions that the linker keeps or drops together.
    pub fn drop_comdat(self) {
        // SAFETY: the value is a global object; null takes it out of its group.
        unsafe { llvm_sys::comdat::LLVMSetComdat(self.raw, std::ptr::null_mut()) }
    }

    /// Forgets the section it was put in.
    pub fn drop_section(self) {
        // SAFETY: the value is a global object.
        unsafe { LLVMSetSection(self.raw, c"".as_ptr()) }
    }

    /// The initial value of a global.
    #[must_use]
    pub fn initializer(self) -> Option<Self> {
        assert!(self.is_global());
        // SAFETY: the value is a global variable.
        Self::from_raw(unsafe { LLVMGetInitializer(self.raw) })
    }

    /// Gives a global its initial value.
    pub fn set_initializer(self, value: Self) {
        // SAFETY: both are alive; LLVM's verifier checks the type.
        unsafe { LLVMSetInitializer(self.raw, value.raw) }
    }

    /// Whether a global never changes.
    #[must_use]
    pub fn is_global_constant(self) -> bool {
        assert!(self.is_global());
        // SAFETY: the value is a global variable.
        unsafe { LLVMIsGlobalConstant(self.raw) != 0 }
    }

    /// Says whether a global never changes.
    pub fn set_global_constant(self, constant: bool) {
        // SAFETY: the value is a global variable.
        unsafe { LLVMSetGlobalConstant(self.raw, i32::from(constant)) }
    }

    /// Whether a global has one instance a thread.
    #[must_use]
    pub fn is_thread_local(self) -> bool {
        // SAFETY: the value is a global variable.
        self.is_global() && unsafe { LLVMIsThreadLocal(self.raw) != 0 }
    }

    /// Gives a global one instance a thread.
    pub fn set_thread_local(self) {
        // SAFETY: the value is a global variable.
        unsafe { LLVMSetThreadLocal(self.raw, 1) }
    }

    /// Alignment in bytes of a global, allocation, load or store.
    #[must_use]
    pub fn alignment(self) -> u32 {
        // SAFETY: the value has an alignment.
        unsafe { LLVMGetAlignment(self.raw) }
    }

    /// Sets the alignment in bytes.
    pub fn set_alignment(self, bytes: u32) {
        // SAFETY: the value has an alignment.
        unsafe { LLVMSetAlignment(self.raw, bytes) }
    }

    /// Removes a function from its module. It must have no uses, and must not be used again.
    pub fn delete_function(self) {
        assert!(self.is_function() && !self.is_used(), "deleting {}", self.name());
        // SAFETY: nothing uses the function.
        unsafe { LLVMDeleteFunction(self.raw) }
    }

    /// Removes a global from its module. It must have no uses, and must not be used again.
    pub fn delete_global(self) {
        assert!(self.is_global() && !self.is_used(), "deleting {}", self.name());
        // SAFETY: nothing uses the global.
        unsafe { LLVMDeleteGlobal(self.raw) }
    }

    /// The parameters of a function.
    #[must_use]
    pub fn parameters(self) -> Vec<Self> {
        // SAFETY: the value is a function; indices are below the number of parameters.
        unsafe {
            (0..LLVMCountParams(self.raw))
                .map(|index| Self::wrap(LLVMGetParam(self.raw, index)))
                .collect()
        }
    }

    /// The blocks of a function, the entry first.
    #[must_use]
    pub fn blocks(self) -> Vec<Block<'c>> {
        assert!(self.is_function());
        // SAFETY: the value is a function.
        let first = Block::from_raw(unsafe { LLVMGetFirstBasicBlock(self.raw) });
        std::iter::successors(first, |block| {
            // SAFETY: the block is in the function.
            Block::from_raw(unsafe { LLVMGetNextBasicBlock(block.raw) })
        })
        .collect()
    }

    /// The instructions of a function, block by block.
    #[must_use]
    pub fn instructions(self) -> Vec<Self> {
        self.blocks().into_iter().flat_map(Block::instructions).collect()
    }

    /// The calls in a function, block by block.
    #[must_use]
    pub fn calls(self) -> Vec<Self> {
        let mut calls = self.instructions();
        calls.retain(|instruction| instruction.is_call());
        calls
    }

    /// Sets the calling convention of a function or call, by LLVM's number.
    pub fn set_calling_convention(self, convention: u32) {
        // SAFETY: the value is a function or call.
        unsafe {
            if self.is_function() {
                LLVMSetFunctionCallConv(self.raw, convention);
            } else {
                LLVMSetInstructionCallConv(self.raw, convention);
            }
        }
    }

    /// Drops the function that unwinding would ask.
    pub fn drop_personality(self) {
        // SAFETY: the value is a function; null removes the personality.
        unsafe {
            if LLVMHasPersonalityFn(self.raw) != 0 {
                LLVMSetPersonalityFn(self.raw, std::ptr::null_mut());
            }
        }
    }

    // Attributes of functions.

    /// Whether a function has an attribute.
    #[must_use]
    pub fn has_attribute(self, place: Place, name: &str) -> bool {
        // SAFETY: the value is a function.
        unsafe {
            !LLVMGetEnumAttributeAtIndex(self.raw, place.index(), attribute_kind(name)).is_null()
        }
    }

    /// Adds an attribute with a number (0 for those that are only there or not).
    pub fn add_attribute(self, context: &'c Context, place: Place, name: &str, number: u64) {
        let kind = attribute_kind(name);
        assert_ne!(kind, 0, "LLVM knows no attribute {name}");
        // SAFETY: the value is a function or a call; the attribute is one of the same context.
        unsafe {
            let attribute = LLVMCreateEnumAttribute(raw(context), kind, number);
            if self.is_function() {
                LLVMAddAttributeAtIndex(self.raw, place.index(), attribute);
            } else {
                LLVMAddCallSiteAttribute(self.raw, place.index(), attribute);
            }
        }
    }

    /// Adds an attribute that holds a type, such as `byval`.
    pub fn add_type_attribute(self, context: &'c Context, place: Place, name: &str, ty: Type<'c>) {
        let kind = attribute_kind(name);
        assert_ne!(kind, 0, "LLVM knows no attribute {name}");
        // SAFETY: the value is a function; the attribute is one of the same context.
        unsafe {
            let attribute = LLVMCreateTypeAttribute(raw(context), kind, ty.raw);
            LLVMAddAttributeAtIndex(self.raw, place.index(), attribute);
        }
    }

    /// Adds an attribute of text to a function.
    pub fn add_text_attribute(self, context: &'c Context, key: &str, value: &str) {
        // SAFETY: the value is a function; both texts are given with their lengths.
        unsafe {
            let attribute = LLVMCreateStringAttribute(
                raw(context),
                key.as_ptr().cast(),
                key.len() as u32,
                value.as_ptr().cast(),
                value.len() as u32,
            );
            LLVMAddAttributeAtIndex(self.raw, Place::Function.index(), attribute);
        }
    }

    /// Removes an attribute of a function, if it is there.
    pub fn remove_attribute(self, place: Place, name: &str) {
        // SAFETY: the value is a function or call; removing what is not there does nothing.
        unsafe {
            if self.is_function() {
                LLVMRemoveEnumAttributeAtIndex(self.raw, place.index(), attribute_kind(name));
            } else {
                LLVMRemoveCallSiteEnumAttribute(self.raw, place.index(), attribute_kind(name));
            }
        }
    }

    /// Removes an attribute of text of a function, if it is there.
    pub fn remove_text_attribute(self, key: &str) {
        // SAFETY: the value is a function; the key is given with its length.
        unsafe {
            LLVMRemoveStringAttributeAtIndex(
                self.raw,
                Place::Function.index(),
                key.as_ptr().cast(),
                key.len() as u32,
            );
        }
    }

    // Instructions.

    /// What an instruction does.
    #[must_use]
    pub fn opcode(self) -> LLVMOpcode {
        assert!(self.is_instruction());
        // SAFETY: the value is an instruction.
        unsafe { LLVMGetInstructionOpcode(self.raw) }
    }

    /// Whether it is a call or an invoke.
    #[must_use]
    pub fn is_call(self) -> bool {
        self.is_instruction()
            && matches!(self.opcode(), LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke)
    }

    /// What a call calls: a function, or a pointer to one.
    #[must_use]
    pub fn callee(self) -> Option<Self> {
        // SAFETY: the value is a call where the callee is asked for.
        self.is_call().then(|| Self::wrap(unsafe { LLVMGetCalledValue(self.raw) }))
    }

    /// The function a call calls directly.
    #[must_use]
    pub fn called_function(self) -> Option<Self> {
        self.callee().filter(|callee| callee.is_function())
    }

    /// The arguments of a call.
    #[must_use]
    pub fn arguments(self) -> Vec<Self> {
        assert!(self.is_call());
        // SAFETY: the value is a call; indices are below the number of arguments.
        unsafe {
            (0..LLVMGetNumArgOperands(self.raw))
                .map(|index| Self::wrap(LLVMGetOperand(self.raw, index)))
                .collect()
        }
    }

    /// The instruction after this one in its block.
    #[must_use]
    pub fn next_instruction(self) -> Option<Self> {
        // SAFETY: the value is an instruction.
        Self::from_raw(unsafe { LLVMGetNextInstruction(self.raw) })
    }

    /// The block an instruction is in.
    #[must_use]
    pub fn block(self) -> Block<'c> {
        // SAFETY: the value is an instruction in a block.
        Block::wrap(unsafe { LLVMGetInstructionParent(self.raw) })
    }

    /// Removes an instruction. Its uses must be gone, and it must not be used again.
    pub fn erase(self) {
        assert!(self.is_instruction() && !self.is_used(), "erasing {self:?}");
        // SAFETY: nothing uses the instruction.
        unsafe { LLVMInstructionEraseFromParent(self.raw) }
    }

    /// The type that an `alloca` allocates.
    #[must_use]
    pub fn allocated_type(self) -> Type<'c> {
        assert_eq!(self.opcode(), LLVMOpcode::LLVMAlloca);
        // SAFETY: the value is an alloca.
        Type::wrap(unsafe { LLVMGetAllocatedType(self.raw) })
    }

    /// Allows LLVM to fuse this operation with others of its kind (`contract`), if it is one that
    /// can be.
    pub fn allow_contraction(self) {
        const CONTRACT: u32 = 1 << 5;
        if matches!(
            self.opcode(),
            LLVMOpcode::LLVMFAdd | LLVMOpcode::LLVMFSub | LLVMOpcode::LLVMFMul
        ) {
            // SAFETY: the instruction is one that takes these flags.
            unsafe { LLVMSetFastMathFlags(self.raw, LLVMGetFastMathFlags(self.raw) | CONTRACT) }
        }
    }

    /// Adds a case to a `switch`.
    pub fn add_case(self, value: Self, block: Block<'c>) {
        assert_eq!(self.opcode(), LLVMOpcode::LLVMSwitch);
        // SAFETY: the value is a switch, the case a constant.
        unsafe { LLVMAddCase(self.raw, value.raw, block.raw) }
    }

    /// Adds an incoming value to a phi.
    pub fn add_incoming(self, value: Self, block: Block<'c>) {
        assert_eq!(self.opcode(), LLVMOpcode::LLVMPHI);
        let (mut values, mut blocks) = ([value.raw], [block.raw]);
        // SAFETY: the value is a phi; one value and one block are given.
        unsafe { LLVMAddIncoming(self.raw, values.as_mut_ptr(), blocks.as_mut_ptr(), 1) }
    }

    /// The source line that debug information gives for an instruction; 0 where it has none.
    #[must_use]
    pub fn debug_line(self) -> u32 {
        // SAFETY: the value is an instruction or a global.
        unsafe { LLVMGetDebugLocLine(self.raw) }
    }

    // Constants.

    /// This constant pointer, in another address space.
    #[must_use]
    pub fn cast_address_space(self, ty: Type<'c>) -> Self {
        assert!(self.is_constant());
        // SAFETY: both are pointers.
        Self::wrap(unsafe { LLVMConstAddrSpaceCast(self.raw, ty.raw) })
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

    /// What a constant expression does.
    #[must_use]
    pub fn constant_opcode(self) -> LLVMOpcode {
        assert!(self.is_constant_expression());
        // SAFETY: the value is a constant expression.
        unsafe { LLVMGetConstOpcode(self.raw) }
    }

    /// The type of the elements that a `getelementptr`, instruction or constant, counts in.
    #[must_use]
    pub fn element_type(self) -> Type<'c> {
        // SAFETY: LLVM gives null for anything else.
        Type::wrap(unsafe { LLVMGetGEPSourceElementType(self.raw) })
    }

    /// For a phi, the block that its operand of this index comes from.
    #[must_use]
    pub fn incoming_block(self, index: u32) -> Option<Block<'c>> {
        (self.is_instruction() && self.opcode() == LLVMOpcode::LLVMPHI)
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

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // SAFETY: the value is alive; LLVM hands out the text.
        let text = crate::library::take_message(unsafe { LLVMPrintValueToString(self.raw) });
        formatter.write_str(text.trim())
    }
}
