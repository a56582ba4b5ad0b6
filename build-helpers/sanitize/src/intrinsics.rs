//! Intrinsics of kernelmill that the checks call.

use kernelmill_compiler::plugin::{
    Task,
    ir::{Builder, ModuleExt, Place, Type, Value},
};

/// The intrinsic `__kernelmill_<name>` without parameters, which returns 32 bits or nothing.
pub(crate) fn declare<'c>(task: &Task<'_, 'c>, name: &str) -> Value<'c> {
    let gives_nothing = ["barrier", "fence_block"].contains(&name);
    let result =
        if gives_nothing { Type::void(task.context()) } else { Type::int(task.context(), 32) };
    let function = task.module().declare(&format!("__kernelmill_{name}"), result.function(&[]));
    if name == "barrier" {
        function.add_attribute(task.context(), Place::Function, "convergent", 0);
    }
    function
}

/// The start of the dynamic shared memory.
pub(crate) fn dynamic_shared<'c>(task: &Task<'_, 'c>, builder: &Builder<'c>) -> Value<'c> {
    let address = Type::pointer(task.context(), 0);
    builder.call(task.module().declare(DYNAMIC_SHARED, address.function(&[])), &[])
}

/// The intrinsic of [`dynamic_shared`].
pub(crate) const DYNAMIC_SHARED: &str = "__kernelmill_dynamic_shared";
