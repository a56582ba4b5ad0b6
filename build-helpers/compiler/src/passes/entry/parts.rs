//! What is kept of a module besides its entries.

use std::collections::HashSet;

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{Linkage, ModuleExt, Value},
};

use super::unit::Entry;
use crate::{
    base::names::{SHIM_PREFIX, is_panic},
    ir::variables::is_variable,
    passes::relocations::is_relocation,
};

/// Makes everything but the entries droppable.
pub(crate) fn keep_only(module: &Module<'_>, entries: &[Entry]) {
    let kept = |name: &str| {
        entries
            .iter()
            .any(|entry| entry.symbol == name || entry.cpu_symbol.as_deref() == Some(name))
    };
    let globals = module.globals().into_iter().filter(|global| !global.is_declaration());
    for value in module.definitions().into_iter().chain(globals) {
        // What panics call stays as it is called, for `Messages::of` to read.
        // Relocations and variables are found by the host.
        let name = value.name();
        if !kept(&name) && !is_panic(&name) && !is_relocation(&name) && !is_variable(&value) {
            value.set_linkage(Linkage::Internal);
        }
    }
}

/// The functions that the constant which describes a CPU kernel names.
fn described_by<'c>(module: &Module<'c>, entry: &Entry) -> Vec<Value<'c>> {
    let global = entry.cpu_symbol.as_ref().and_then(|symbol| module.global(symbol));
    let parts = global.and_then(Value::initializer).map(Value::operands);
    parts.into_iter().flatten().filter(|part| part.is_function()).collect()
}

/// Makes declarations of all functions but those that the device starts, or, where there are none
/// yet, those that they will be made of.
pub(crate) fn drop_bodies(module: &Module<'_>, entries: &[Entry]) {
    let described: HashSet<_> =
        entries.iter().flat_map(|entry| described_by(module, entry)).collect();
    let is_entry = |function: &Value<'_>| match (entries, function.name()) {
        ([], name) => name.starts_with(SHIM_PREFIX),
        (entries, name) => {
            described.contains(function) || entries.iter().any(|entry| entry.symbol == name)
        }
    };
    let functions = module.definitions().into_iter();
    let dropped: Vec<_> = functions.filter(|function| !is_entry(function)).collect();
    for function in &dropped {
        let name = function.name();
        function.set_name(&format!("{name}.dropped"));
        function.replace_with(module.new_function(&name, function.value_type()));
    }
    // Without bodies nothing uses them any more.
    for function in dropped {
        function.delete_function();
    }
}
