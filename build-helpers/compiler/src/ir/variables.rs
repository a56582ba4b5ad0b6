//! Device variables: what the host reads and writes in a loaded module, `__constant__` and `__device__` variables of
//! CUDA C++ and HIP.
//!
//! A front end marks such a variable as LLVM's `externally_initialized`. From there to the binary it keeps its name, so
//! that a driver finds it, and no pass knows what it holds. Variables in constant memory are constant for the passes:
//! kernels do not write them, and the host does so between launches.
//!
//! On the CPU a program links the objects of many sources, so there each has a name of its own ([`finish`]).

use kernelmill_artifact::BitcodeConstant;
use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{Linkage, ModuleExt, Value, Visibility},
};

/// Marks a variable as one of the host.
pub(crate) fn mark(global: Value<'_>) {
    global.set_linkage(Linkage::External);
    global.set_visibility(Visibility::Protected);
    global.set_externally_initialized(true);
}

/// Whether a value is a variable that the host may write.
pub(crate) fn is_variable(value: &Value<'_>) -> bool {
    value.is_global() && !value.is_declaration() && value.is_externally_initialized()
}

/// Whether a value is a variable of the program: one that the host may write, or one in an address space that kernels write.
pub(crate) fn is_in_memory(value: &Value<'_>, space: u32) -> bool {
    let is_of_space =
        value.is_global() && !value.is_declaration() && value.ty().address_space() == space;
    is_of_space && (value.is_externally_initialized() || !value.is_global_constant())
}

/// Gives the variables of an object for the CPU names that no other object has, and memory that can be written. Constants of
/// bitcode are none of these. What comes
/// back has the symbol of each in its source, and the one in the object, in the order of their names.
pub(crate) fn finish(module: &Module<'_>, unit: &str) -> Vec<(String, String)> {
    let is_constant = |it: &Value<'_>| BitcodeConstant::of_symbol(&it.name()).is_some();
    let globals = module.globals().into_iter();
    let variables = globals.filter(|it| is_variable(it) && !is_constant(it));
    let mut names: Vec<_> = variables
        .map(|global| {
            let symbol = global.name();
            let name = format!("kernelmill_variable_{unit}_{symbol}");
            global.set_name(&name);
            global.set_visibility(Visibility::Hidden);
            global.set_global_constant(false);
            (symbol, name)
        })
        .collect();
    names.sort();
    names
}
