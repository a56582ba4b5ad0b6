//! Exact block sizes: what a kernel reads of the size of its blocks is a constant where launches can have no
//! other.
//!
//! LLVM's `NVVMIntrRange` does so since LLVM 23; before, loops over a block's elements stay where each thread has one.

use std::collections::HashMap;

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{Linkage, ModuleExt, Value},
};

use crate::ir::{calls_of, reachable};

/// The registers with the size of a block, as intrinsics.
const REGISTERS: [&str; 3] = [
    "llvm.nvvm.read.ptx.sreg.ntid.x",
    "llvm.nvvm.read.ptx.sreg.ntid.y",
    "llvm.nvvm.read.ptx.sreg.ntid.z",
];

/// Folds the size of blocks in every kernel with an exact one (`nvvm.reqntid`), and in the functions that nothing but
/// kernels of one such size reaches. Needs: what nothing else may call is internal.
pub(super) fn fold(module: &Module<'_>) {
    let mut sizes: HashMap<Value<'_>, Option<[u64; 3]>> = HashMap::new();
    let is_root = |it: &Value<'_>| it.linkage() != Linkage::Internal;
    for root in module.definitions().into_iter().filter(is_root) {
        let size = root.text_attribute("nvvm.reqntid").and_then(|text| exact(&text));
        for function in reachable(root).into_iter().filter(|it| it.is_function()) {
            let known = sizes.entry(function).or_insert(size);
            *known = known.filter(|known| Some(*known) == size);
        }
    }
    for (axis, register) in REGISTERS.iter().enumerate() {
        let Some(register) = module.function(register) else { continue };
        for call in calls_of(register) {
            let size = sizes.get(&call.block().function()).copied().flatten();
            if let Some(size) = size {
                call.replace_with(call.ty().constant(size[axis]));
                call.erase();
            }
        }
    }
}

/// The three sizes of `nvvm.reqntid`.
fn exact(text: &str) -> Option<[u64; 3]> {
    let sizes: Vec<_> = text.split(',').map_while(|size| size.trim().parse().ok()).collect();
    sizes.try_into().ok()
}
