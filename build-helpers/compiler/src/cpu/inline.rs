//! Makes functions that use the context part of the kernels.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::ir::{ModuleExt, Place, Value};

use super::operation::Operation;
use crate::{
    link::{MATH_PREFIX, always_inline, is_panic},
    target::Unit,
};

/// Marks every function that uses the context or mathematics, directly or through others, to be
/// inlined, and the mathematical ones, but for recursive ones and the cold ones that write down a panic.
pub(super) fn context_users(unit: &Unit<'_, '_>) {
    let definitions = unit.module.definitions();
    let calls: HashMap<Value<'_>, Vec<Value<'_>>> = definitions
        .iter()
        .map(|function| {
            let calls = function.instructions().into_iter();
            (*function, calls.filter_map(Value::called_function).collect())
        })
        .collect();
    let users = users(&calls);
    for function in definitions {
        let name = function.name();
        if is_panic(&name) {
            function.add_attribute(unit.context, Place::Function, "noinline", 0);
            continue;
        }
        let is_shim = name.starts_with(crate::entry::SHIM_PREFIX);
        // A loop over threads with a call in it is not vectorised.
        let inlined = users.contains(&function) || name.starts_with(MATH_PREFIX);
        if inlined && !is_shim && !calls_itself(function, &calls) {
            always_inline(unit.context, function);
        }
    }
}

/// The functions that use the context or mathematics, to a fixpoint.
fn users<'c>(calls: &HashMap<Value<'c>, Vec<Value<'c>>>) -> HashSet<Value<'c>> {
    let mut users = HashSet::new();
    loop {
        let before = users.len();
        for (function, callees) in calls {
            let uses = callees.iter().any(|callee| {
                let name = callee.name();
                let reports = is_panic(&name);
                Operation::from_name(&name).is_some()
                    // A call in the midst of a group's code is made for each lane alone.
                    || name.starts_with(MATH_PREFIX)
                    || (users.contains(callee) && !reports)
            });
            if uses {
                users.insert(*function);
            }
        }
        if users.len() == before {
            return users;
        }
    }
}

/// Whether a function calls itself, directly or through others.
fn calls_itself<'c>(function: Value<'c>, calls: &HashMap<Value<'c>, Vec<Value<'c>>>) -> bool {
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
