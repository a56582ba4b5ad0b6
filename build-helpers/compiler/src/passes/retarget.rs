//! Retargeting: what names the host is removed from a module that rustc or clang compiled for it.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, Place, Value},
    machine::Machine,
};

use crate::Error;

/// Attributes of functions that name the host's processor or its conventions.
const HOST_TEXT: &[&str] =
    &["target-cpu", "target-features", "tune-cpu", "probe-stack", "stack-protector"];
const HOST_FLAGS: &[&str] = &["uwtable", "nonlazybind", "ssp", "sspstrong", "sspreq"];

/// What `core::hint::spin_loop` is on hosts; on a GPU it is nothing.
const PAUSES: [&str; 2] = ["llvm.x86.sse2.pause", "llvm.aarch64.isb"];

/// Makes calls of what may unwind, and drops where unwinding goes on: on a device nothing unwinds. Passes
/// that replace a call need not know that one can be the end of a block.
const NO_UNWINDING: &str = "function(lower-invoke,unreachableblockelim)";

/// Guarantees that the module has no landing pads, and functions without a personality.
pub(crate) fn end_unwinding(module: &Module<'_>, machine: &Machine) -> Result<(), Error> {
    if module.definitions().into_iter().any(Value::has_personality) {
        machine.run(module, NO_UNWINDING)?;
    }
    module.functions().into_iter().for_each(Value::drop_personality);
    Ok(())
}

/// Prepares every function of the module for a target. Functions of the target's that exchange
/// data between threads must not be moved into or out of branches, so on a GPU everything is
/// `convergent` before any pass runs; LLVM takes it off again where it is not needed.
pub(crate) fn functions<'c>(context: &'c Context, module: &Module<'c>, convergent: bool) {
    for function in module.functions() {
        for key in HOST_TEXT {
            function.remove_text_attribute(key);
        }
        for name in HOST_FLAGS {
            function.remove_attribute(Place::Function, name);
        }
        if convergent && !function.is_intrinsic() {
            function.add_attribute(context, Place::Function, "convergent", 0);
        }
        for call in function.calls() {
            prepare_call(context, call, convergent);
        }
    }
}

fn prepare_call<'c>(context: &'c Context, call: Value<'c>, convergent: bool) {
    let callee = call.callee();
    let intrinsic = callee.is_some_and(Value::is_intrinsic);
    let is_pause = |name: &str| convergent && PAUSES.contains(&name);
    if intrinsic
        && callee.is_some_and(|callee| {
            let name = callee.name();
            name.starts_with("llvm.lifetime.") || is_pause(&name)
        })
    {
        call.erase();
    } else if convergent && !intrinsic {
        call.add_attribute(context, Place::Function, "convergent", 0);
    }
}
