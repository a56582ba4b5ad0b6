//! Instructions.

use llvm_sys::{LLVMOpcode, core::*};

use super::Value;
use crate::ir::{Block, Type};

// As in `super`, every call passes handles that are alive.
impl<'c> Value<'c> {
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

    /// The text of the assembly that a call contains instead of calling a function.
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
            let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length);
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }

    /// Whether the assembly that a call contains is in the notation of Intel.
    #[must_use]
    pub fn is_intel_assembly(self) -> bool {
        let dialect = llvm_sys::LLVMInlineAsmDialect::LLVMInlineAsmDialectIntel;
        // SAFETY: the callee is inline assembly where its notation is asked for.
        self.callee().is_some_and(|callee| unsafe {
            !LLVMIsAInlineAsm(callee.raw).is_null()
                && LLVMGetInlineAsmDialect(callee.raw) == dialect
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

    /// Allows LLVM to compute this less exactly than it is written (`fast`), if it is an operation
    /// on floating-point numbers.
    pub fn allow_fast_math(self) {
        const ALL: u32 = 0x7f;
        // SAFETY: flags are set only on an instruction that takes them.
        unsafe {
            if LLVMCanValueUseFastMathFlags(self.raw) != 0 {
                LLVMSetFastMathFlags(self.raw, ALL);
            }
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

    /// The source file that debug information gives for an instruction, as the compiler that wrote
    /// it named it; `None` where it has none.
    #[must_use]
    pub fn debug_file(self) -> Option<String> {
        let mut length = 0;
        // SAFETY: the value is an instruction or a global; LLVM gives null or a text with its
        // length, owned by the context.
        unsafe {
            let text = LLVMGetDebugLocFilename(self.raw, &raw mut length);
            if text.is_null() {
                return None;
            }
            let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length as usize);
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}
