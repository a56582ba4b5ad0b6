//! Loop metadata (`llvm.loop`), attached to the terminator of a latch: a node whose first operand is the
//! node itself, followed by source locations and hints
//! (<https://llvm.org/docs/LangRef.html#llvm-loop>).

use inkwell::context::Context;
use llvm_sys::{
    core::*,
    debuginfo::{LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode},
    prelude::{LLVMMetadataRef, LLVMValueRef},
};

use super::{Block, Value, codes, handle::raw};

/// The number of `llvm.loop` among kinds of attached metadata.
fn kind(context: &Context) -> u32 {
    const NAME: &str = "llvm.loop";
    let (name, length) = (NAME.as_ptr().cast(), NAME.len() as u32);
    // SAFETY: the context is alive, the name is given with its length.
    unsafe { LLVMGetMDKindIDInContext(raw(context), name, length) }
}

/// A loop's node, with these operands after itself.
///
/// # Safety
///
/// The operands are metadata of the context.
unsafe fn node(context: &Context, operands: &[LLVMMetadataRef]) -> LLVMValueRef {
    let context = raw(context);
    // SAFETY: nodes are given with their number. The temporary node is gone once the loop's own, which
    // names itself, has taken its place.
    unsafe {
        let itself = LLVMTemporaryMDNode(context, std::ptr::null_mut(), 0);
        let mut all = vec![itself];
        all.extend(operands);
        let node = LLVMMDNodeInContext2(context, all.as_mut_ptr(), all.len());
        LLVMMetadataReplaceAllUsesWith(itself, node);
        LLVMMetadataAsValue(context, node)
    }
}

impl<'c> Block<'c> {
    /// Requests full unrolling of the loop whose latch is this block, which LLVM does if the trip count
    /// is known and the loop is not too large.
    pub fn unroll_loop(self, context: &'c Context) {
        const FULL: &str = "llvm.loop.unroll.full";
        let Some(latch) = self.terminator() else { return };
        // SAFETY: the text is given with its length; the latch is an instruction.
        unsafe {
            let full = LLVMMDStringInContext2(raw(context), FULL.as_ptr().cast(), FULL.len());
            let full = LLVMMDNodeInContext2(raw(context), [full].as_mut_ptr(), 1);
            LLVMSetMetadata(latch.raw, kind(context), node(context, &[full]));
        }
    }
}

impl<'c> Value<'c> {
    /// Removes source locations from the metadata of a function's loops. Code that was moved or inlined
    /// by hand has locations of another function there, which LLVM refuses. No target uses them.
    pub fn drop_loop_locations(self, context: &'c Context) {
        assert!(self.is_function());
        let kind = kind(context);
        for latch in self.blocks().into_iter().filter_map(Block::terminator) {
            // SAFETY: the latch is an instruction; its metadata is null or a node, whose operands are
            // null or metadata.
            unsafe {
                let found = LLVMGetMetadata(latch.raw, kind);
                if found.is_null() {
                    continue;
                }
                let mut operands =
                    vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(found) as usize];
                LLVMGetMDNodeOperands(found, operands.as_mut_ptr());
                let hints = operands.iter().skip(1).filter(|operand| !operand.is_null());
                let hints: Vec<_> = hints.map(|operand| LLVMValueAsMetadata(*operand)).collect();
                let is_location =
                    |it: &LLVMMetadataRef| codes::LLVMGetMetadataKind(*it) == codes::LOCATION;
                if !hints.iter().any(is_location) {
                    continue;
                }
                let kept: Vec<_> = hints.into_iter().filter(|it| !is_location(it)).collect();
                LLVMSetMetadata(latch.raw, kind, node(context, &kept));
            }
        }
    }
}
