//! Handles: [`Value`], [`Type`] and [`Block`] wrap raw pointers of LLVM.
//!
//! A handle is `Copy`, lives as long as its [`Context`], and compares by identity. What can be done
//! with one is in the other files of this folder.

use std::marker::PhantomData;

use inkwell::context::Context;
use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMContextRef, LLVMTypeRef, LLVMValueRef};

/// A value: function, global, instruction, parameter or constant.
///
/// It has many methods because LLVM's C interface has one type for all values; the files of `value`
/// hold them by kind of value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value<'c> {
    pub(crate) raw: LLVMValueRef,
    context: PhantomData<&'c Context>,
}

impl Value<'_> {
    pub(crate) fn wrap(raw: LLVMValueRef) -> Self {
        Self::from_raw(raw).expect("LLVM gave no value")
    }

    pub(crate) fn from_raw(raw: LLVMValueRef) -> Option<Self> {
        (!raw.is_null()).then_some(Self { raw, context: PhantomData })
    }
}

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type<'c> {
    pub(crate) raw: LLVMTypeRef,
    context: PhantomData<&'c Context>,
}

impl Type<'_> {
    pub(crate) fn wrap(raw: LLVMTypeRef) -> Self {
        assert!(!raw.is_null(), "LLVM gave no type");
        Self { raw, context: PhantomData }
    }
}

/// A basic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block<'c> {
    pub(crate) raw: LLVMBasicBlockRef,
    context: PhantomData<&'c Context>,
}

impl Block<'_> {
    pub(crate) fn wrap(raw: LLVMBasicBlockRef) -> Self {
        Self::from_raw(raw).expect("LLVM gave no block")
    }

    pub(crate) fn from_raw(raw: LLVMBasicBlockRef) -> Option<Self> {
        (!raw.is_null()).then_some(Self { raw, context: PhantomData })
    }
}

/// The raw context.
pub(crate) fn raw(context: &Context) -> LLVMContextRef {
    context.raw()
}
