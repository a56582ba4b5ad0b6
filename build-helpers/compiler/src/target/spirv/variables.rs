//! Variables of the host, `__constant__` and `__device__` ones of CUDA C++ and HIP: a program of OpenCL's has no way to
//! their memory, so kernels that use them are refused.

use std::collections::HashSet;

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Value},
};

use crate::ir::variables::is_variable;

/// The variables that kernels use, each with the first instruction of every function that does.
pub(super) fn used<'c>(module: &Module<'c>) -> Vec<(String, Value<'c>)> {
    let mut found = Vec::new();
    for variable in module.globals().into_iter().filter(is_variable) {
        let users = users(variable);
        for function in module.definitions() {
            let first = function.instructions().into_iter().find(|it| users.contains(it));
            found.extend(first.map(|first| (variable.name(), first)));
        }
    }
    found
}

/// Removes the variables of kernels that the target is left out for.
pub(super) fn drop_unused(module: &Module<'_>) {
    for variable in module.globals().into_iter().filter(is_variable) {
        if users(variable).is_empty() {
            // Constants that nothing uses may name it.
            variable.replace_with(variable.ty().poison());
            variable.delete_global();
        }
    }
}

/// The instructions that use a variable, on its own, inside a constant, or by a static that has its address.
fn users(variable: Value<'_>) -> HashSet<Value<'_>> {
    let (mut found, mut seen, mut work) = (HashSet::new(), HashSet::new(), vec![variable]);
    while let Some(value) = work.pop() {
        for user in value.users() {
            match user.is_instruction() {
                true => drop(found.insert(user)),
                false if seen.insert(user) => work.push(user),
                false => {}
            }
        }
    }
    found
}
