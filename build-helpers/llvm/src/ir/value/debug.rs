//! What debug information says of instructions and functions.

use inkwell::context::Context;
use llvm_sys::{
    core::{LLVMGetMDNodeNumOperands, LLVMGetMDNodeOperands, LLVMGetMDString, LLVMMetadataAsValue},
    debuginfo::{
        LLVMDIFileGetDirectory, LLVMDIFileGetFilename, LLVMDILocationGetColumn,
        LLVMDILocationGetInlinedAt, LLVMDILocationGetLine, LLVMDILocationGetScope,
        LLVMDIScopeGetFile, LLVMDISubprogramGetLine, LLVMGetSubprogram, LLVMInstructionGetDebugLoc,
    },
    prelude::{LLVMMetadataRef, LLVMValueRef},
};

use super::Value;
use crate::ir::{codes, raw};

/// A place in a source, and the function it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFrame {
    /// The function's symbol, or its name in the source where it has none.
    pub function: String,
    /// The file, as the compiler that wrote the debug information named it; with its folder where
    /// the name is relative to one.
    pub file: String,
    /// The line, from 1; 0 where it is not known.
    pub line: u32,
    /// The column, from 1; 0 where it is not known.
    pub column: u32,
}

/// The places of a scope's parent, of a subprogram's name and of its symbol among their operands.
const PARENT: usize = 1;
const NAME: usize = 2;
const SYMBOL: usize = 3;

impl<'c> Value<'c> {
    /// The places in the source that an instruction stems from: where it stands first, and then,
    /// as far as that was inlined, each place that it was inlined into. Empty without debug
    /// information.
    #[must_use]
    pub fn source_frames(self, context: &'c Context) -> Vec<SourceFrame> {
        assert!(self.is_instruction());
        let mut frames = Vec::new();
        // SAFETY: the value is an instruction; locations and scopes live as long as the context.
        unsafe {
            let mut location = LLVMInstructionGetDebugLoc(self.raw);
            while !location.is_null() {
                let scope = LLVMDILocationGetScope(location);
                frames.push(SourceFrame {
                    function: function_of(context, scope),
                    file: file_of(scope),
                    line: LLVMDILocationGetLine(location),
                    column: LLVMDILocationGetColumn(location),
                });
                location = LLVMDILocationGetInlinedAt(location);
            }
        }
        frames
    }

    /// Where a function starts in the source; `None` without debug information.
    #[must_use]
    pub fn source_start(self, context: &'c Context) -> Option<SourceFrame> {
        assert!(self.is_function());
        // SAFETY: the value is a function; LLVM gives null where it has no debug information.
        unsafe {
            let scope = LLVMGetSubprogram(self.raw);
            (!scope.is_null()).then(|| SourceFrame {
                function: function_of(context, scope),
                file: file_of(scope),
                line: LLVMDISubprogramGetLine(scope),
                column: 0,
            })
        }
    }
}

/// The operands of a node of metadata; null for those that are absent.
unsafe fn operands(context: &Context, node: LLVMMetadataRef) -> Vec<LLVMValueRef> {
    // SAFETY: the node lives in the context, and the list has the length that LLVM says.
    unsafe {
        let value = LLVMMetadataAsValue(raw(context), node);
        let mut list = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(value) as usize];
        LLVMGetMDNodeOperands(value, list.as_mut_ptr());
        list
    }
}

/// The text of an operand, where it is one.
unsafe fn text(operand: Option<&LLVMValueRef>) -> Option<String> {
    let operand = *operand.filter(|operand| !operand.is_null())?;
    let mut length = 0;
    // SAFETY: the operand is a value; LLVM gives null for what is no text.
    unsafe {
        let bytes = LLVMGetMDString(operand, &raw mut length);
        if bytes.is_null() || length == 0 {
            return None;
        }
        let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length as usize);
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// The function that a scope is in.
unsafe fn function_of(context: &Context, scope: LLVMMetadataRef) -> String {
    let mut scope = scope;
    // SAFETY: scopes are nodes, whose parents are scopes up to a function.
    unsafe {
        loop {
            let list = operands(context, scope);
            if codes::LLVMGetMetadataKind(scope) == codes::SUBPROGRAM {
                let symbol = text(list.get(SYMBOL));
                return symbol.or_else(|| text(list.get(NAME))).unwrap_or_default();
            }
            match list.get(PARENT) {
                Some(parent) if !parent.is_null() => {
                    scope = llvm_sys::core::LLVMValueAsMetadata(*parent);
                }
                _ => return String::new(),
            }
        }
    }
}

/// The file of a scope.
unsafe fn file_of(scope: LLVMMetadataRef) -> String {
    // SAFETY: the scope is one; LLVM gives null or a text with its length, owned by the context.
    unsafe {
        let file = LLVMDIScopeGetFile(scope);
        if file.is_null() {
            return String::new();
        }
        let part = |get: unsafe extern "C" fn(_, _) -> _| {
            let mut length = 0;
            let bytes: *const std::ffi::c_char = get(file, &raw mut length);
            if bytes.is_null() {
                return String::new();
            }
            let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length as usize);
            String::from_utf8_lossy(bytes).into_owned()
        };
        let (folder, name) = (part(LLVMDIFileGetDirectory), part(LLVMDIFileGetFilename));
        if folder.is_empty() || folder == "." || name.starts_with('/') {
            name
        } else {
            format!("{folder}/{name}")
        }
    }
}
