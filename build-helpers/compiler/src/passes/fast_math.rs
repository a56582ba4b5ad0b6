//! Fast-math flags: contraction of the whole module, and all flags in functions that ask for them. LLVM
//! describes the flags in its [language reference].
//!
//! [language reference]: https://llvm.org/docs/LangRef.html#fast-math-flags

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, Place, Value},
    machine::Machine,
};

use crate::{
    Error,
    base::names::{MATH_PREFIX, SHIM_PREFIX, is_panic},
    ir::{always_inline, calls_of, reachable},
};

/// Part of the symbols of the mathematical functions of the device crate. They compute with the
/// rounding errors of single operations, which must stay as written.
const EXACT: &str = "kernelmill_device4math";

/// Part of the symbols of functions in CUDA C++ whose operations are rounded one by one.
const ROUNDED: &str = "__kernelmill_exact";

/// Allows contraction of multiplications and additions in the module, the flag `contract`.
pub(crate) fn allow_contraction(module: &Module<'_>) {
    let functions = module.definitions().into_iter();
    let fuses = |name: &str| !name.contains(EXACT) && !name.contains(ROUNDED);
    for function in functions.filter(|function| fuses(&function.name())) {
        function.instructions().into_iter().for_each(Value::allow_contraction);
    }
}

/// The call by which a function says so.
const MARK: &str = "__kernelmill_fast_math";

/// How deep calls are followed.
const DEPTH: usize = 64;

/// Finds the functions that are marked, makes what they call part of them, and allows fast
/// arithmetic there. The mathematical functions of the device crate stay as they are: they compute
/// with the errors of single operations.
pub(crate) fn apply<'c>(
    context: &'c Context,
    module: &Module<'c>,
    machine: &Machine,
) -> Result<(), Error> {
    let Some(mark) = module.function(MARK) else { return Ok(()) };
    let exact = hold_back(context, module);
    machine.run(module, "always-inline")?;
    let mut marked: Vec<Value<'c>> = Vec::new();
    for call in calls_of(mark) {
        let function = call.block().function();
        if !marked.contains(&function) {
            marked.push(function);
        }
        call.erase();
    }
    for _ in 0..DEPTH {
        let calls = marked.iter().flat_map(|function| function.calls());
        let mut found = false;
        for call in calls {
            if call.called_function().is_some_and(|callee| takes_part(callee, &exact)) {
                call.remove_attribute(Place::Function, "noinline");
                call.add_attribute(context, Place::Function, "alwaysinline", 0);
                found = true;
            }
        }
        if !found {
            break;
        }
        machine.run(module, "always-inline")?;
    }
    for function in &marked {
        function.instructions().into_iter().for_each(Value::allow_fast_math);
        if !function.name().starts_with(SHIM_PREFIX) {
            always_inline(context, *function);
        }
    }
    for (function, inlined) in exact {
        function.remove_attribute(Place::Function, "noinline");
        if inlined {
            always_inline(context, function);
        }
    }
    Ok(())
}

/// Keeps mathematical functions from being inlined, and says which were to be.
fn hold_back<'c>(context: &'c Context, module: &Module<'c>) -> Vec<(Value<'c>, bool)> {
    let functions = module.definitions().into_iter().filter(|function| {
        let name = function.name();
        name.contains(EXACT) || name.starts_with(MATH_PREFIX)
    });
    functions
        .map(|function| {
            let inlined = function.has_attribute(Place::Function, "alwaysinline");
            function.remove_attribute(Place::Function, "alwaysinline");
            function.add_attribute(context, Place::Function, "noinline", 0);
            (function, inlined)
        })
        .collect()
}

/// Whether a function that is called becomes part of the caller.
fn takes_part<'c>(callee: Value<'c>, exact: &[(Value<'c>, bool)]) -> bool {
    !callee.is_declaration()
        && !is_panic(&callee.name())
        && !exact.iter().any(|(function, _)| *function == callee)
        && !is_recursive(callee)
}

fn is_recursive(function: Value<'_>) -> bool {
    let callees = function.calls().into_iter().filter_map(Value::called_function);
    callees.into_iter().any(|callee| reachable(callee).contains(&function))
}
