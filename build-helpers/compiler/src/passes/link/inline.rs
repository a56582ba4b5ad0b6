//! Inlining of panics: what records a panic stays out of line until everything is optimised.

use std::collections::HashSet;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, Place, Value},
};

use super::{ending, merge};
use crate::{
    base::names::{PANIC, PANIC_PARTS, PANIC_SILENT, PANIC_VALUES, is_panic},
    ir::{always_inline, calls_of},
    target_info::TargetInfo,
};

/// Inlines the functions that record a panic into the kernels of a GPU, where a call costs registers
/// by the calling convention. They stay out of line until everything is optimised, so that they do not
/// keep functions from being inlined; and each function gets them once, whatever the number of its
/// panics.
pub(crate) fn finish_panics<'c>(
    context: &'c Context,
    module: &Module<'c>,
    backend: &dyn TargetInfo,
    kernels: &[Value<'c>],
) {
    for function in module.definitions().into_iter().filter(|it| is_panic(&it.name())) {
        function.set_linkage(Linkage::Internal);
    }
    if !backend.is_gpu() {
        return;
    }
    for name in [PANIC, PANIC_VALUES, PANIC_PARTS, PANIC_SILENT] {
        let Some(function) = module.function(name).filter(|it| !it.is_declaration()) else {
            continue;
        };
        merge::calls_that_do_not_return(context, module, function);
        if let Some(end) = backend.ends_group() {
            ending::by_return(context, module, function, end, kernels);
        }
        always_inline(context, function);
    }
}

/// Keeps the functions that record a panic out of line. Where the end of a thread in a function would
/// end its whole group, every function that can panic is inlined into the kernels, but for recursive
/// ones and those called by address.
pub(crate) fn inline_panicking<'c>(
    context: &'c Context,
    module: &Module<'c>,
    backend: &dyn TargetInfo,
) {
    let panics = module.functions().into_iter().filter(|function| is_panic(&function.name()));
    let mut work: Vec<_> = panics.collect();
    if backend.is_gpu() {
        // Until `finish_panics`, also where they are small.
        for function in &work {
            function.add_attribute(context, Place::Function, "noinline", 0);
        }
    }
    if backend.ends_group().is_none() {
        return;
    }
    let mut seen: HashSet<_> = work.iter().copied().collect();
    while let Some(callee) = work.pop() {
        for call in calls_of(callee) {
            let caller = call.block().function();
            if seen.insert(caller) {
                always_inline(context, caller);
                work.push(caller);
            }
        }
    }
}
