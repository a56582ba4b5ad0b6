//! Stack probes: a function whose frame is larger than a page touches each page of it in order, so that it
//! meets the guard page below the stack and no other memory
//! ([`probe-stack`](https://llvm.org/docs/LangRef.html#function-attributes)).
//!
//! Needs: the functions of the module, complete. Guarantees: a stack that is used up ends the process with a
//! message, by the handler that Rust's run time has for its threads.

use kernelmill_llvm::{inkwell::context::Context, inkwell::module::Module, ir::ModuleExt};

/// Has every function probe its frame, and returns how many there are. On Windows LLVM does so by itself.
pub(super) fn probe<'c>(context: &'c Context, module: &Module<'c>, triple: &str) -> u64 {
    if triple.contains("windows") {
        return 0;
    }
    let functions = module.definitions();
    for function in &functions {
        function.add_text_attribute(context, "probe-stack", "inline-asm");
    }
    functions.len() as u64
}
