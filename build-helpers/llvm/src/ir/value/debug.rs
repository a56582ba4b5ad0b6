//! Source locations of instructions and functions, from debug information (`DILocation`,
//! `DISubprogram`): <https://llvm.org/docs/SourceLevelDebugging.html>.

use std::ffi::{c_char, c_uint};

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

use crate::{
    ir::{Value, codes, handle::raw},
    strings,
};

/// A source location, and the function it is in.
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

/// A source location without its function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugLocation {
    /// The file, as the compiler that wrote it named it.
    pub file: String,
    /// The line, from 1; 0 where it is not known.
    pub line: u32,
    /// The column, from 1; 0 where it is not known.
    pub column: u32,
}

/// The indices of a scope's parent, of a subprogram's name and of its symbol among their operands.
const PARENT: usize = 1;
const NAME: usize = 2;
const SYMBOL: usize = 3;

impl<'c> Value<'c> {
    /// The source frames of an instruction: its own first, then those of the calls that were
    /// inlined, from the inside to the outside. Empty without debug information.
    #[must_use]
    pub fn source_frames(self, context: &'c Context) -> Vec<SourceFrame> {
        // SAFETY: each is a location with a scope, which live as long as the context.
        let frame = |location| unsafe {
            let scope = LLVMDILocationGetScope(location);
            SourceFrame {
                function: function_of(context, scope),
                file: path_of(scope),
                line: LLVMDILocationGetLine(location),
                column: LLVMDILocationGetColumn(location),
            }
        };
        self.locations().map(frame).collect()
    }

    /// The locations of [`Value::source_frames`], with files named without their folder.
    #[must_use]
    pub fn debug_locations(self) -> Vec<DebugLocation> {
        // SAFETY: as for `source_frames`.
        let location = |location| unsafe {
            let file = LLVMDIScopeGetFile(LLVMDILocationGetScope(location));
            let name = (!file.is_null()).then(|| file_text(file, LLVMDIFileGetFilename));
            DebugLocation {
                file: name.unwrap_or_default(),
                line: LLVMDILocationGetLine(location),
                column: LLVMDILocationGetColumn(location),
            }
        };
        self.locations().map(location).collect()
    }

    /// The nodes of an instruction's location and of the calls that were inlined.
    fn locations(self) -> impl Iterator<Item = LLVMMetadataRef> {
        assert!(self.is_instruction());
        let present = |location: LLVMMetadataRef| (!location.is_null()).then_some(location);
        // SAFETY: the value is an instruction, whose location may be null.
        let first = unsafe { LLVMInstructionGetDebugLoc(self.raw) };
        std::iter::successors(present(first), move |location| {
            // SAFETY: the node is a location; that of the call that was inlined may be null.
            present(unsafe { LLVMDILocationGetInlinedAt(*location) })
        })
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
                file: path_of(scope),
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
        strings::copy(bytes, length as usize).filter(|text| !text.is_empty())
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

/// The file of a scope, with its folder where the name is relative to one.
unsafe fn path_of(scope: LLVMMetadataRef) -> String {
    // SAFETY: the scope is one; LLVM gives null or a text with its length, owned by the context.
    unsafe {
        let file = LLVMDIScopeGetFile(scope);
        if file.is_null() {
            return String::new();
        }
        let folder = file_text(file, LLVMDIFileGetDirectory);
        let name = file_text(file, LLVMDIFileGetFilename);
        if folder.is_empty() || folder == "." || name.starts_with('/') {
            name
        } else {
            format!("{folder}/{name}")
        }
    }
}

/// The directory or the name of a file, empty where it has none.
unsafe fn file_text(
    file: LLVMMetadataRef,
    get: unsafe extern "C" fn(LLVMMetadataRef, *mut c_uint) -> *const c_char,
) -> String {
    let mut length = 0;
    // SAFETY: the node is a file; LLVM gives null or a text with its length, owned by the context.
    unsafe { strings::copy(get(file, &raw mut length), length as usize).unwrap_or_default() }
}
