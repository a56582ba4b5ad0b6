//! Line tables of generated functions: debug information for functions that are assembled from pieces
//! of others (<https://llvm.org/docs/SourceLevelDebugging.html>).

use std::{collections::HashMap, marker::PhantomData};

use inkwell::{context::Context, module::Module};
use llvm_sys::{
    debuginfo::*,
    prelude::{LLVMDIBuilderRef, LLVMMetadataRef},
};

use super::{Value, handle::raw};

/// Writes debug information for functions of one file: line tables only.
#[derive(Debug)]
pub struct Lines<'m, 'c> {
    builder: LLVMDIBuilderRef,
    context: &'c Context,
    file: LLVMMetadataRef,
    ty: LLVMMetadataRef,
    module: PhantomData<&'m Module<'c>>,
}

const NO_TEXT: *const std::ffi::c_char = c"".as_ptr();

impl<'m, 'c> Lines<'m, 'c> {
    /// Line tables for functions of a module, with this file as their source.
    #[must_use]
    pub fn new(context: &'c Context, module: &'m Module<'c>, file: &str) -> Self {
        const PRODUCER: &str = "kernelmill";
        // SAFETY: the module is alive; texts are given with their lengths, and copied.
        unsafe {
            let builder = LLVMCreateDIBuilder(module.as_mut_ptr());
            let (name, length) = (file.as_ptr().cast(), file.len());
            let file = LLVMDIBuilderCreateFile(builder, name, length, c".".as_ptr(), 1);
            LLVMDIBuilderCreateCompileUnit(
                builder,
                LLVMDWARFSourceLanguage::LLVMDWARFSourceLanguageRust,
                file,
                PRODUCER.as_ptr().cast(),
                PRODUCER.len(),
                1,
                NO_TEXT,
                0,
                0,
                NO_TEXT,
                0,
                LLVMDWARFEmissionKind::LLVMDWARFEmissionKindLineTablesOnly,
                0,
                1,
                0,
                NO_TEXT,
                0,
                NO_TEXT,
                0,
            );
            let mut nothing = std::ptr::null_mut();
            let ty = LLVMDIBuilderCreateSubroutineType(
                builder,
                file,
                &raw mut nothing,
                1,
                LLVMDIFlagZero,
            );
            Self { builder, context, file, ty, module: PhantomData }
        }
    }

    /// Gives a function a `DISubprogram` of its own, with this name and line. The locations in it,
    /// whatever their functions, become inlined at that line. A call without a location gets that line.
    pub fn own(&self, function: Value<'c>, name: &str, line: u32) {
        let symbol = function.name();
        // SAFETY: the value is a function of the module; texts are given with their lengths; locations
        // and scopes live as long as the context.
        unsafe {
            let scope = LLVMDIBuilderCreateFunction(
                self.builder,
                self.file,
                name.as_ptr().cast(),
                name.len(),
                symbol.as_ptr().cast(),
                symbol.len(),
                self.file,
                line,
                self.ty,
                1,
                1,
                line,
                LLVMDIFlagZero,
                1,
            );
            LLVMSetSubprogram(function.raw, scope);
            let own = self.location(line, 0, scope, std::ptr::null_mut());
            let mut known = HashMap::new();
            for instruction in function.instructions() {
                let found = LLVMInstructionGetDebugLoc(instruction.raw);
                if !found.is_null() {
                    let within = self.within(found, own, &mut known);
                    LLVMInstructionSetDebugLoc(instruction.raw, within);
                } else if instruction.is_call() {
                    LLVMInstructionSetDebugLoc(instruction.raw, own);
                }
            }
        }
    }

    /// Gives every call without a location the line of its function, which must have debug information.
    pub fn complete(&self, function: Value<'c>) {
        // SAFETY: as for `own`.
        unsafe {
            let scope = LLVMGetSubprogram(function.raw);
            let line = LLVMDISubprogramGetLine(scope);
            let own = self.location(line, 0, scope, std::ptr::null_mut());
            for call in function.calls() {
                if LLVMInstructionGetDebugLoc(call.raw).is_null() {
                    LLVMInstructionSetDebugLoc(call.raw, own);
                }
            }
        }
    }

    unsafe fn location(
        &self,
        line: u32,
        column: u32,
        scope: LLVMMetadataRef,
        inlined_at: LLVMMetadataRef,
    ) -> LLVMMetadataRef {
        let context = raw(self.context);
        // SAFETY: the caller's scope is one.
        unsafe { LLVMDIBuilderCreateDebugLocation(context, line, column, scope, inlined_at) }
    }

    /// A copy of a location whose outermost function is inlined at `outermost`.
    unsafe fn within(
        &self,
        location: LLVMMetadataRef,
        outermost: LLVMMetadataRef,
        known: &mut HashMap<LLVMMetadataRef, LLVMMetadataRef>,
    ) -> LLVMMetadataRef {
        if let Some(found) = known.get(&location) {
            return *found;
        }
        // SAFETY: locations are chains that end.
        let made = unsafe {
            let at = LLVMDILocationGetInlinedAt(location);
            let at = if at.is_null() { outermost } else { self.within(at, outermost, known) };
            let (line, column) =
                (LLVMDILocationGetLine(location), LLVMDILocationGetColumn(location));
            self.location(line, column, LLVMDILocationGetScope(location), at)
        };
        known.insert(location, made);
        made
    }
}

impl Drop for Lines<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: made by LLVM, and not used any more.
        unsafe {
            LLVMDIBuilderFinalize(self.builder);
            LLVMDisposeDIBuilder(self.builder);
        }
    }
}

impl Value<'_> {
    /// Whether a function has debug information.
    #[must_use]
    pub fn has_source_lines(self) -> bool {
        assert!(self.is_function());
        // SAFETY: the value is a function.
        unsafe { !LLVMGetSubprogram(self.raw).is_null() }
    }
}
