//! The call graph of a module.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Value},
};

/// The functions that can call themselves.
pub(crate) fn recursive_functions(module: &Module<'_>) -> HashSet<String> {
    let mut calls: HashMap<String, HashSet<String>> = HashMap::new();
    for function in module.definitions() {
        let called = function.calls().into_iter().filter_map(Value::called_function);
        let called = called.filter(|callee| !callee.is_declaration()).map(Value::name).collect();
        calls.insert(function.name(), called);
    }
    let reaches_itself = |name: &&String| {
        let (mut seen, mut stack) = (HashSet::new(), vec![*name]);
        while let Some(at) = stack.pop() {
            for next in calls.get(at).into_iter().flatten() {
                if next == *name {
                    return true;
                }
                if seen.insert(next) {
                    stack.push(next);
                }
            }
        }
        false
    };
    calls.keys().filter(reaches_itself).cloned().collect()
}
