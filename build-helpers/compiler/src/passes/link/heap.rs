//! The global allocator: calls of `alloc` go to the device crate's heap.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, Linkage, ModuleExt},
};

use crate::ir::{always_inline, path};

/// What `alloc` calls, and the device crate's function for it; none where nothing is to be done.
const FUNCTIONS: [(&str, Option<&str>); 6] = [
    ("__rustc::__rust_alloc", Some("__kernelmill_alloc")),
    ("__rustc::__rust_alloc_zeroed", Some("__kernelmill_alloc_zeroed")),
    ("__rustc::__rust_dealloc", Some("__kernelmill_dealloc")),
    ("__rustc::__rust_realloc", Some("__kernelmill_realloc")),
    ("__rustc::__rust_no_alloc_shim_is_unstable", None),
    ("__rustc::__rust_no_alloc_shim_is_unstable_v2", None),
];

/// Whether a symbol is one of the crate `alloc` or of its allocator.
pub(super) fn is_of_alloc(symbol: &str) -> bool {
    let path = format!("{:#}", rustc_demangle::demangle(symbol));
    ["alloc::", "<alloc::", "__rustc::__rust_"].iter().any(|start| path.starts_with(start))
}

/// Gives a kernel that allocates the functions it needs, where the target has a heap.
pub(super) fn provide<'c>(context: &'c Context, module: &Module<'c>, has_heap: bool) {
    for function in module.functions() {
        if !has_heap || !function.is_declaration() || !function.is_used() {
            continue;
        }
        let path = path(function);
        match FUNCTIONS.iter().find(|(name, _)| *name == path) {
            Some((_, Some(ours))) => {
                let target = module.declare(ours, function.value_type());
                function.replace_with(target);
            }
            Some((_, None)) => {
                let builder = Builder::new(context);
                builder.at_end(Block::append(context, function, "start"));
                builder.ret(None);
                function.set_linkage(Linkage::Internal);
                always_inline(context, function);
            }
            None => {}
        }
    }
}
