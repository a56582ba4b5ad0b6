//! Fast-math flags: contraction of the whole module, and in functions that ask for them every flag but `nnan`
//! and `ninf`. LLVM describes the flags in its [language reference].
//!
//! Kernels that ask for them are safe Rust. With `nnan` and `ninf` a NaN or an infinity is poison, and what is
//! computed from it, an index among it, can be anything.
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

/// The call by which a function asks for fast-math flags.
const MARK: &str = "__kernelmill_fast_math";

/// How deep calls are followed.
const DEPTH: usize = 64;

/// Inlines what marked functions call, and sets fast-math flags in them. The mathematical functions of the
/// device crate stay as they are: they compute with the errors of single operations.
pub(crate) fn apply<'c>(
    context: &'c Context,
    module: &Module<'c>,
    machine: &Machine,
) -> Result<(), Error> {
    let Some(mark) = module.function(MARK) else { return Ok(()) };
    let exact = hold_back(context, module);
    machine.run(module, "always-inline")?;
    let marked = marked(mark);
    for _ in 0..DEPTH {
        if !inline_callees(context, &marked, &exact) {
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
    for Exact { function, is_inlined } in exact {
        function.remove_attribute(Place::Function, "noinline");
        if is_inlined {
            always_inline(context, function);
        }
    }
    Ok(())
}

/// The functions that are marked, each once. The marks are removed.
fn marked(mark: Value<'_>) -> Vec<Value<'_>> {
    let mut marked = Vec::new();
    for call in calls_of(mark) {
        let function = call.block().function();
        if !marked.contains(&function) {
            marked.push(function);
        }
        call.erase();
    }
    marked
}

/// Has LLVM inline what these functions call; whether there is anything to inline.
fn inline_callees<'c>(context: &'c Context, functions: &[Value<'c>], exact: &[Exact<'c>]) -> bool {
    let mut found = false;
    for call in functions.iter().flat_map(|function| function.calls()) {
        if call.called_function().is_some_and(|callee| takes_part(callee, exact)) {
            call.remove_attribute(Place::Function, "noinline");
            call.add_attribute(context, Place::Function, "alwaysinline", 0);
            found = true;
        }
    }
    found
}

/// A mathematical function, whose operations are rounded one by one.
struct Exact<'c> {
    function: Value<'c>,
    is_inlined: bool,
}

/// Keeps mathematical functions from being inlined, and says which were to be.
fn hold_back<'c>(context: &'c Context, module: &Module<'c>) -> Vec<Exact<'c>> {
    let functions = module.definitions().into_iter().filter(|function| {
        let name = function.name();
        name.contains(EXACT) || name.starts_with(MATH_PREFIX)
    });
    functions
        .map(|function| {
            let is_inlined = function.has_attribute(Place::Function, "alwaysinline");
            function.remove_attribute(Place::Function, "alwaysinline");
            function.add_attribute(context, Place::Function, "noinline", 0);
            Exact { function, is_inlined }
        })
        .collect()
}

/// Whether a function that is called becomes part of the caller.
fn takes_part<'c>(callee: Value<'c>, exact: &[Exact<'c>]) -> bool {
    !callee.is_declaration()
        && !is_panic(&callee.name())
        && !exact.iter().any(|it| it.function == callee)
        && !is_recursive(callee)
}

fn is_recursive(function: Value<'_>) -> bool {
    let callees = function.calls().into_iter().filter_map(Value::called_function);
    callees.into_iter().any(|callee| reachable(callee).contains(&function))
}
