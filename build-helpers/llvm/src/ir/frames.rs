//! The source lines that an instruction is of.

use llvm_sys::debuginfo::*;

use super::Value;

/// A place in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The file, as the compiler that wrote it named it.
    pub file: String,
    /// The line, from 1; 0 where it is not known.
    pub line: u32,
    /// The column, from 1; 0 where it is not known.
    pub column: u32,
}

impl Value<'_> {
    /// The places an instruction is of: its own, then those of the calls that were inlined, from
    /// the inside to the outside.
    #[must_use]
    pub fn debug_frames(self) -> Vec<Frame> {
        let mut frames = Vec::new();
        // SAFETY: the value is an instruction; each location has a scope, and names of files are
        // given with their length, owned by the context.
        unsafe {
            let mut at = LLVMInstructionGetDebugLoc(self.raw);
            while !at.is_null() {
                let file = LLVMDIScopeGetFile(LLVMDILocationGetScope(at));
                let mut name = String::new();
                if !file.is_null() {
                    let mut length = 0;
                    let text = LLVMDIFileGetFilename(file, &raw mut length);
                    if !text.is_null() {
                        let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length as usize);
                        name = String::from_utf8_lossy(bytes).into_owned();
                    }
                }
                let (line, column) = (LLVMDILocationGetLine(at), LLVMDILocationGetColumn(at));
                frames.push(Frame { file: name, line, column });
                at = LLVMDILocationGetInlinedAt(at);
            }
        }
        frames
    }
}
