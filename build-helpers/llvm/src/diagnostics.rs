//! Diagnostics of LLVM: errors that its passes and back ends report to the context.
//!
//! Without a [handler](https://llvm.org/doxygen/classllvm_1_1LLVMContext.html) LLVM prints an error and ends
//! the process: for assembly that its assembler refuses, and for code that a back end cannot generate.

use std::{
    cell::RefCell,
    ffi::{c_int, c_void},
    marker::PhantomData,
};

use inkwell::{context::Context, module::Module};
use llvm_sys::{
    LLVMDiagnosticHandler,
    core::{
        LLVMContextGetDiagnosticContext, LLVMContextGetDiagnosticHandler,
        LLVMContextSetDiagnosticHandler, LLVMGetDiagInfoDescription, LLVMGetModuleContext,
    },
    prelude::{LLVMContextRef, LLVMDiagnosticInfoRef},
};

use crate::strings::take_message;

unsafe extern "C" {
    /// As llvm-sys has it, with the number of the severity, which a newer LLVM may have more of.
    #[link_name = "LLVMGetDiagInfoSeverity"]
    fn severity_of(info: LLVMDiagnosticInfoRef) -> c_int;
}

/// The number of an error in LLVM's C interface.
const ERROR: c_int = 0;

/// Collects the errors of a context while it lives, in place of who did before.
pub struct Diagnostics<'c> {
    raw: LLVMContextRef,
    context: PhantomData<&'c Context>,
    /// On the heap, where it stays when this moves.
    errors: Box<RefCell<Vec<String>>>,
    /// The handler before, with what it is given.
    before: (LLVMDiagnosticHandler, *mut c_void),
}

impl<'c> Diagnostics<'c> {
    /// Collects from now on.
    #[must_use]
    pub fn of(context: &'c Context) -> Self {
        Self::of_raw(context.raw())
    }

    /// Collects the errors of the context of a module.
    pub(crate) fn of_module(module: &Module<'c>) -> Self {
        // SAFETY: the module is alive.
        Self::of_raw(unsafe { LLVMGetModuleContext(module.as_mut_ptr()) })
    }

    fn of_raw(raw: LLVMContextRef) -> Self {
        let errors = Box::<RefCell<Vec<String>>>::default();
        let place = std::ptr::from_ref(&*errors).cast_mut().cast();
        // SAFETY: the context is alive, and the errors are until `drop` removes the handler.
        let before = unsafe {
            let before = LLVMContextGetDiagnosticHandler(raw);
            let given = LLVMContextGetDiagnosticContext(raw);
            LLVMContextSetDiagnosticHandler(raw, Some(collect), place);
            (before, given)
        };
        Self { raw, context: PhantomData, errors, before }
    }

    /// The errors so far, taken out.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        self.errors.take()
    }
}

impl Drop for Diagnostics<'_> {
    fn drop(&mut self) {
        let (handler, given) = self.before;
        // SAFETY: the context is alive. The handler before is none, or one of ours that still lives: those
        // of one context end in the reverse order.
        unsafe { LLVMContextSetDiagnosticHandler(self.raw, handler, given) };
    }
}

/// Keeps an error; remarks and warnings are for nobody here.
extern "C" fn collect(info: LLVMDiagnosticInfoRef, errors: *mut c_void) {
    // SAFETY: LLVM gives the pointer of `Diagnostics::of`, on the thread that works with the context.
    let errors = unsafe { &*errors.cast::<RefCell<Vec<String>>>() };
    // SAFETY: the information is alive; the text is LLVM's to give and ours to free.
    let error = unsafe { (severity_of(info) == ERROR).then(|| LLVMGetDiagInfoDescription(info)) };
    errors.borrow_mut().extend(error.map(take_message));
}
