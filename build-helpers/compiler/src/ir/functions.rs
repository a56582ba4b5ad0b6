//! Functions by their symbols: those that a module does not define, and paths in Rust.

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Value},
};

/// The names of functions that the module uses and does not define.
pub(crate) fn undefined(module: &Module<'_>) -> Vec<String> {
    module
        .functions()
        .into_iter()
        .filter(|function| function.is_declaration() && function.is_used())
        .filter(|function| !function.is_intrinsic())
        .map(Value::name)
        .collect()
}

/// The path of a function in Rust, without the hash at its end.
pub(crate) fn path(function: Value<'_>) -> String {
    format!("{:#}", rustc_demangle::demangle(&function.name()))
}
