//! Values: what all have in common, and a file for each kind.

mod attributes;
mod constants;
mod debug;
mod globals;
mod instructions;

use llvm_sys::core::*;

pub use attributes::Place;
pub use debug::{DebugLocation, SourceFrame};

use super::{Type, Value};
use crate::strings;

// Every call below passes handles that are alive by the rule of the module, so each `unsafe`
// block names only what it needs beyond that.
impl<'c> Value<'c> {
    /// Its name; empty where it has none.
    #[must_use]
    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: LLVM gives the text with its length, owned by the value.
        unsafe {
            let text = LLVMGetValueName2(self.raw, &raw mut length);
            strings::copy(text, length).unwrap_or_default()
        }
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

    /// Whether it is a function.
    #[must_use]
    pub fn is_function(self) -> bool {
        // SAFETY: the value is alive.
        unsafe { !LLVMIsAFunction(self.raw).is_null() }
    }

    /// Whether it is a global variable.
    #[must_use]
    pub fn is_global(self) -> bool {
        // SAFETY: the value is alive.
        unsafe { !LLVMIsAGlobalVariable(self.raw).is_null() }
    }

    /// Whether it is an instruction.
    #[must_use]
    pub fn is_instruction(self) -> bool {
        // SAFETY: the value is alive.
        unsafe { !LLVMIsAInstruction(self.raw).is_null() }
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
        // SAFETY: the value is alive.
        unsafe { !LLVMIsAConstantExpr(self.raw).is_null() }
    }

    /// Whether it is a constant struct, array or vector that is written out, element by element.
    #[must_use]
    pub fn is_constant_aggregate(self) -> bool {
        // SAFETY: the value is alive.
        unsafe {
            !LLVMIsAConstantStruct(self.raw).is_null()
                || !LLVMIsAConstantArray(self.raw).is_null()
                || !LLVMIsAConstantVector(self.raw).is_null()
        }
    }

    /// The value of an integer constant of at most 64 bits.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        // SAFETY: the value is a constant integer, of a type of one number, where its number is asked for.
        unsafe {
            let is_number = !LLVMIsAConstantInt(self.raw).is_null() && self.ty().int_width()? <= 64;
            is_number.then(|| LLVMConstIntGetZExtValue(self.raw))
        }
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
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // SAFETY: the value is alive; LLVM hands out the text.
        let text = strings::take_message(unsafe { LLVMPrintValueToString(self.raw) });
        formatter.write_str(text.trim())
    }
}
