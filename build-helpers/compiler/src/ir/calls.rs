//! Uses of functions and globals: what a function reaches, and who calls it.

use std::collections::HashSet;

use kernelmill_llvm::ir::Value;

/// The functions and globals that a function uses, directly or through others, itself included.
pub(crate) fn reachable<'c>(start: Value<'c>) -> HashSet<Value<'c>> {
    reachable_through(start, &|_| true)
}

/// The same, but of what `through` is false of only itself, and not what it uses.
pub(crate) fn reachable_through<'c>(
    start: Value<'c>,
    through: &dyn Fn(Value<'c>) -> bool,
) -> HashSet<Value<'c>> {
    let mut seen = HashSet::from([start]);
    let mut work = vec![start];
    while let Some(value) = work.pop() {
        if value.is_function() && !through(value) {
            continue;
        }
        let operands: Vec<Value<'c>> = if value.is_function() {
            let instructions = value.instructions();
            instructions.into_iter().flat_map(Value::operands).collect()
        } else if value.is_global() {
            value.initializer().into_iter().collect()
        } else {
            value.operands()
        };
        // Constants lead to globals; instructions and parameters were or will be seen in their
        // function.
        work.extend(
            operands.into_iter().filter(|operand| operand.is_constant() && seen.insert(*operand)),
        );
    }
    seen.retain(|value| value.is_function() || value.is_global());
    seen
}

/// The instructions that use a value, themselves or inside a constant.
pub(crate) fn users_in_code<'c>(value: Value<'c>) -> Vec<Value<'c>> {
    let mut found = Vec::new();
    for user in value.users() {
        if user.is_instruction() {
            found.push(user);
        } else if user.is_constant_expression() {
            found.extend(users_in_code(user));
        }
    }
    found
}

/// The calls of a function in the module.
pub(crate) fn calls_of<'c>(function: Value<'c>) -> Vec<Value<'c>> {
    let users = function.users().into_iter();
    users.filter(|user| user.is_call() && user.callee() == Some(function)).collect()
}
