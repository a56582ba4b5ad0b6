//! Instructions.

use llvm_sys::core::*;

use crate::{
    ir::{Block, Opcode, Type, Value, codes},
    strings,
};

// As in `super`, every call passes handles that are alive.
impl<'c> Value<'c> {
    /// The opcode of an instruction.
    #[must_use]
    pub fn opcode(self) -> Opcode {
        assert!(self.is_instruction());
        // SAFETY: the value is an instruction.
        let code = unsafe { codes::LLVMGetInstructionOpcode(self.raw) };
        match code {
            codes::ANY_BRANCH if self.successor_count() == 1 => Opcode::Br,
            codes::ANY_BRANCH => Opcode::CondBr,
            code => Opcode::from_code(code),
        }
    }

    /// The number of blocks that a terminator can go to.
    #[must_use]
    pub fn successor_count(self) -> u32 {
        // SAFETY: the value is an instruction that ends a block.
        unsafe { LLVMGetNumSuccessors(self.raw) }
    }

    /// The value that a conditional branch tests; `None` for anything else.
    #[must_use]
    pub fn branch_condition(self) -> Option<Self> {
        // SAFETY: the value is a conditional branch where its condition is asked for.
        (self.opcode() == Opcode::CondBr).then(|| Self::wrap(unsafe { LLVMGetCondition(self.raw) }))
    }

    /// The value that selects a terminator's successor: the condition of a conditional branch or the
    /// value of a switch.
    #[must_use]
    pub fn selector(self) -> Option<Self> {
        match self.opcode() {
            Opcode::Switch => Some(self.operand(0)),
            _ => self.branch_condition(),
        }
    }

    /// Whether it is a call or an invoke.
    #[must_use]
    pub fn is_call(self) -> bool {
        self.is_instruction() && matches!(self.opcode(), Opcode::Call | Opcode::Invoke)
    }

    /// The callee of a call: a function, or a pointer to one.
    #[must_use]
    pub fn callee(self) -> Option<Self> {
        // SAFETY: the value is a call where the callee is asked for.
        self.is_call().then(|| Self::wrap(unsafe { LLVMGetCalledValue(self.raw) }))
    }

    /// The type of the function that a call calls.
    #[must_use]
    pub fn called_type(self) -> Type<'c> {
        assert!(self.is_call());
        // SAFETY: the value is a call.
        Type::wrap(unsafe { LLVMGetCalledFunctionType(self.raw) })
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

    /// The text of the inline assembly that is a call's callee.
    #[must_use]
    pub fn inline_assembly(self) -> Option<String> {
        let callee = self.callee()?;
        // SAFETY: the callee is inline assembly where its text is asked for; LLVM gives the text
        // with its length, owned by the value.
        unsafe {
            if LLVMIsAInlineAsm(callee.raw).is_null() {
                return None;
            }
            let mut length = 0;
            let text = LLVMGetInlineAsmAsmString(callee.raw, &raw mut length);
            strings::copy(text, length)
        }
    }

    /// Whether a call's callee is inline assembly that does more than compute its result.
    #[must_use]
    pub fn has_assembly_with_effects(self) -> bool {
        // SAFETY: the callee is inline assembly where its effects are asked for.
        self.callee().is_some_and(|callee| unsafe {
            !LLVMIsAInlineAsm(callee.raw).is_null()
                && LLVMGetInlineAsmHasSideEffects(callee.raw) != 0
        })
    }

    /// Whether the inline assembly that is a call's callee is in Intel's syntax.
    #[must_use]
    pub fn is_intel_assembly(self) -> bool {
        // SAFETY: the callee is inline assembly where its notation is asked for.
        self.callee().is_some_and(|callee| unsafe {
            !LLVMIsAInlineAsm(callee.raw).is_null()
                && codes::LLVMGetInlineAsmDialect(callee.raw) == codes::INTEL_DIALECT
        })
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
        assert_eq!(self.opcode(), Opcode::Alloca);
        // SAFETY: the value is an alloca.
        Type::wrap(unsafe { LLVMGetAllocatedType(self.raw) })
    }

    /// Sets the fast-math flag `contract` on an addition, subtraction or multiplication, which may then
    /// be fused with another.
    pub fn allow_contraction(self) {
        if matches!(self.opcode(), Opcode::FAdd | Opcode::FSub | Opcode::FMul) {
            // SAFETY: the instruction is one that takes these flags.
            unsafe {
                LLVMSetFastMathFlags(
                    self.raw,
                    LLVMGetFastMathFlags(self.raw) | codes::fast_math::CONTRACT,
                )
            }
        }
    }

    /// Sets the fast-math flags on an operation that can have them, but for `nnan` and `ninf`: they make
    /// poison of NaN and infinity, which safe code may compute.
    pub fn allow_fast_math(self) {
        // SAFETY: flags are set only on an instruction that takes them.
        unsafe {
            if LLVMCanValueUseFastMathFlags(self.raw) != 0 {
                let flags = codes::fast_math::ALL & !codes::fast_math::FINITE;
                LLVMSetFastMathFlags(self.raw, flags);
            }
        }
    }

    /// The values of the cases of a `switch`, in the order of its successors after the first, which
    /// is the default.
    #[must_use]
    pub fn switch_cases(self) -> Vec<Self> {
        assert_eq!(self.opcode(), Opcode::Switch);
        let successors = self.successor_count();
        // SAFETY: the value is a switch, the indices are below its numbers of operands and successors.
        unsafe {
            // Values are operands between the successors, and from LLVM 23 on not among the operands.
            let are_operands = LLVMGetNumOperands(self.raw) as u32 == 2 * successors;
            (1..successors)
                .map(|index| {
                    Self::wrap(if are_operands {
                        LLVMGetOperand(self.raw, 2 * index)
                    } else {
                        LLVMGetSwitchCaseValue(self.raw, index)
                    })
                })
                .collect()
        }
    }

    /// Adds a case to a `switch`.
    pub fn add_case(self, value: Self, block: Block<'c>) {
        assert_eq!(self.opcode(), Opcode::Switch);
        // SAFETY: the value is a switch, the case a constant.
        unsafe { LLVMAddCase(self.raw, value.raw, block.raw) }
    }

    /// Adds an incoming value to a phi.
    pub fn add_incoming(self, value: Self, block: Block<'c>) {
        assert_eq!(self.opcode(), Opcode::Phi);
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

    /// The source file that debug information gives for an instruction, as the compiler that wrote
    /// it named it; `None` where it has none.
    #[must_use]
    pub fn debug_file(self) -> Option<String> {
        let mut length = 0;
        // SAFETY: the value is an instruction or a global; LLVM gives null or a text with its
        // length, owned by the context.
        unsafe {
            let text = LLVMGetDebugLocFilename(self.raw, &raw mut length);
            strings::copy(text, length as usize)
        }
    }
}
