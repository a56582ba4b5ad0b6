//! Functions and globals.

use llvm_sys::core::*;

use crate::ir::{Block, Linkage, UnnamedAddress, Value, Visibility, codes};

// As in `super`, every call passes handles that are alive.
impl<'c> Value<'c> {
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
    pub fn linkage(self) -> Linkage {
        // SAFETY: the value is a global object.
        Linkage::from_code(unsafe { codes::LLVMGetLinkage(self.raw) })
    }

    /// Changes its linkage.
    pub fn set_linkage(self, linkage: Linkage) {
        // SAFETY: the value is a global object.
        unsafe { codes::LLVMSetLinkage(self.raw, linkage.code()) }
    }

    /// Changes its visibility.
    pub fn set_visibility(self, visibility: Visibility) {
        // SAFETY: the value is a global object.
        unsafe { codes::LLVMSetVisibility(self.raw, visibility.code()) }
    }

    /// Sets whether its address matters.
    pub fn set_unnamed_address(self, unnamed: UnnamedAddress) {
        // SAFETY: the value is a global object.
        unsafe { codes::LLVMSetUnnamedAddress(self.raw, unnamed.code()) }
    }

    /// Removes it from its comdat, the group of definitions that a linker keeps or drops together.
    pub fn drop_comdat(self) {
        // SAFETY: the value is a global object; null takes it out of its group.
        unsafe { llvm_sys::comdat::LLVMSetComdat(self.raw, std::ptr::null_mut()) }
    }

    /// Moves the `DISubprogram` of another function, whose body is to be inlined here, to this one.
    /// Inlining into a function without one drops all locations.
    pub fn take_source_lines(self, from: Self) {
        const DEBUG: &str = "dbg";
        assert!(self.is_function() && from.is_function());
        // SAFETY: both are functions of one module, which keeps the debug information.
        unsafe {
            let lines = llvm_sys::debuginfo::LLVMGetSubprogram(from.raw);
            if !lines.is_null() {
                let context = LLVMGetTypeContext(LLVMTypeOf(from.raw));
                let (name, length) = (DEBUG.as_ptr().cast(), DEBUG.len() as u32);
                LLVMGlobalEraseMetadata(from.raw, LLVMGetMDKindIDInContext(context, name, length));
                llvm_sys::debuginfo::LLVMSetSubprogram(self.raw, lines);
            }
        }
    }

    /// Removes its section.
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

    /// Whether a global is constant.
    #[must_use]
    pub fn is_global_constant(self) -> bool {
        assert!(self.is_global());
        // SAFETY: the value is a global variable.
        unsafe { LLVMIsGlobalConstant(self.raw) != 0 }
    }

    /// Sets whether a global is constant.
    pub fn set_global_constant(self, constant: bool) {
        // SAFETY: the value is a global variable.
        unsafe { LLVMSetGlobalConstant(self.raw, i32::from(constant)) }
    }

    /// Whether the host, or a loader, may give a global another value than its initial one before code reads it.
    #[must_use]
    pub fn is_externally_initialized(self) -> bool {
        assert!(self.is_global());
        // SAFETY: the value is a global variable.
        unsafe { LLVMIsExternallyInitialized(self.raw) != 0 }
    }

    /// Sets whether the host, or a loader, may give a global another value before code reads it.
    pub fn set_externally_initialized(self, external: bool) {
        // SAFETY: the value is a global variable.
        unsafe { LLVMSetExternallyInitialized(self.raw, i32::from(external)) }
    }

    /// Whether a global is thread-local.
    #[must_use]
    pub fn is_thread_local(self) -> bool {
        // SAFETY: the value is a global variable.
        self.is_global() && unsafe { LLVMIsThreadLocal(self.raw) != 0 }
    }

    /// Makes a global thread-local.
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

    /// Whether a function passes LLVM's verifier.
    #[must_use]
    pub fn is_valid(self) -> bool {
        use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyFunction};
        assert!(self.is_function());
        let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        // SAFETY: the value is a function.
        unsafe { LLVMVerifyFunction(self.raw, action) == 0 }
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

    /// The calling convention of a function or call, by LLVM's number.
    #[must_use]
    pub fn calling_convention(self) -> u32 {
        assert!(self.is_function() || self.is_call());
        // SAFETY: the value is a function or call.
        unsafe {
            match self.is_function() {
                true => LLVMGetFunctionCallConv(self.raw),
                false => LLVMGetInstructionCallConv(self.raw),
            }
        }
    }

    /// Whether a function has a personality function, without which it cannot have landing pads.
    #[must_use]
    pub fn has_personality(self) -> bool {
        // SAFETY: the value is a function.
        unsafe { LLVMHasPersonalityFn(self.raw) != 0 }
    }

    /// Removes the personality function, which unwinding would call.
    pub fn drop_personality(self) {
        // SAFETY: the value is a function; null removes the personality.
        unsafe {
            if LLVMHasPersonalityFn(self.raw) != 0 {
                LLVMSetPersonalityFn(self.raw, std::ptr::null_mut());
            }
        }
    }
}
