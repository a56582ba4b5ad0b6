//! Inlining of functions that use the thread's context.
//!
//! Needs: nothing. Guarantees: such functions are marked `alwaysinline`, unless they are recursive.
//! LLVM's inliner does the rest ([`super::simplification`]).

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Place, Value},
};

use super::operation::Operation;
use crate::{
    base::names::{MATH_PREFIX, SHIM_PREFIX, is_panic},
    ir::always_inline,
    passes::entry::Unit,
};

/// Marks to be inlined: every function that uses the context or the math library, directly or through
/// others, the mathematical ones, and those that can panic; but not recursive ones, nor the cold
/// ones that write down a panic.
pub(super) fn context_users(unit: &Unit<'_, '_>) -> u64 {
    let definitions = unit.module.definitions();
    let calls = call_graph(unit.module);
    let users = callers(&calls, |name| {
        // A call in the midst of a vector's code is made for each lane alone.
        Operation::from_name(name).is_some() || name.starts_with(MATH_PREFIX)
    });
    let panicking = callers(&calls, is_panic);
    let called = called_by_kernels(&calls);
    let mut count = 0;
    for function in definitions {
        let name = function.name();
        if is_panic(&name) {
            function.add_attribute(unit.context, Place::Function, "noinline", 0);
            continue;
        }
        let is_shim = name.starts_with(SHIM_PREFIX);
        // A loop over threads with a call in it is not vectorised.
        let panics = called.contains(&function) && panicking.contains(&function);
        let inlined = users.contains(&function) || name.starts_with(MATH_PREFIX) || panics;
        if inlined && !is_shim && !calls_itself(function, &calls) {
            always_inline(unit.context, function);
            count += 1;
        }
    }
    count
}

/// The functions that each function calls.
pub(super) type CallGraph<'c> = HashMap<Value<'c>, Vec<Value<'c>>>;

/// What the functions of a module call.
pub(super) fn call_graph<'c>(module: &Module<'c>) -> CallGraph<'c> {
    let callees = |function: Value<'c>| {
        let instructions = function.instructions().into_iter();
        (function, instructions.filter_map(Value::called_function).collect())
    };
    module.definitions().into_iter().map(callees).collect()
}

/// The functions that call one of those that `is` names, directly or through others, but for what
/// is called to write down a panic.
pub(super) fn callers<'c>(calls: &CallGraph<'c>, is: impl Fn(&str) -> bool) -> HashSet<Value<'c>> {
    let mut found = HashSet::new();
    loop {
        let before = found.len();
        for (function, callees) in calls {
            let calls = callees
                .iter()
                .any(|callee| is(&callee.name()) || (found.contains(callee) && !reports(*callee)));
            if calls {
                found.insert(*function);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Whether a function is one that writes down a panic.
fn reports(function: Value<'_>) -> bool {
    is_panic(&function.name())
}

/// The functions that kernels call, directly or through others, but to write down a panic.
fn called_by_kernels<'c>(calls: &CallGraph<'c>) -> HashSet<Value<'c>> {
    let shims = calls.keys().filter(|function| function.name().starts_with(SHIM_PREFIX));
    let (mut found, mut work) = (HashSet::new(), shims.copied().collect::<Vec<_>>());
    while let Some(function) = work.pop() {
        if !reports(function) && found.insert(function) {
            work.extend(calls.get(&function).into_iter().flatten());
        }
    }
    found
}

/// Whether a function calls itself, directly or through others.
fn calls_itself<'c>(function: Value<'c>, calls: &CallGraph<'c>) -> bool {
    let mut seen = HashSet::new();
    let mut work = calls.get(&function).cloned().unwrap_or_default();
    while let Some(callee) = work.pop() {
        if callee == function {
            return true;
        }
        if seen.insert(callee) {
            work.extend(calls.get(&callee).into_iter().flatten());
        }
    }
    false
}
