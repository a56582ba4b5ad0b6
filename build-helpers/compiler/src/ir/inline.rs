//! Inlining: attributes that have LLVM's inliner inline a function into its callers.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, Place, Value},
};

use crate::base::names::{PREFIX, SHIM_PREFIX};

/// Marks a function to be inlined into every caller.
pub(crate) fn always_inline<'c>(context: &'c Context, function: Value<'c>) {
    for name in ["noinline", "optnone", "cold", "minsize", "optsize"] {
        function.remove_attribute(Place::Function, name);
    }
    function.add_attribute(context, Place::Function, "alwaysinline", 0);
    for user in function.users() {
        if user.is_call() && user.callee() == Some(function) {
            user.remove_attribute(Place::Function, "noinline");
        }
    }
}

/// Marks every function to be inlined into its callers, but for the compiler's own, which stay out of
/// line until later stages.
pub(crate) fn inline_all<'c>(context: &'c Context, module: &Module<'c>) {
    let ours = |name: &str| name.starts_with(PREFIX) && !name.starts_with(SHIM_PREFIX);
    for function in module.definitions() {
        if !ours(&function.name()) {
            always_inline(context, function);
        }
    }
}
