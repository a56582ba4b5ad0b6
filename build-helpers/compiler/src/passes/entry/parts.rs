//! What is kept of a module besides its entries.

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{Linkage, ModuleExt},
};

use super::unit::Entry;
use crate::base::names::{SHIM_PREFIX, is_panic};

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
        if !kept(&value.name()) && !is_panic(&value.name()) {
            value.set_linkage(Linkage::Internal);
        }
    }
}

/// Makes declarations of all functions but those that the device starts, or, where there are none
/// yet, those that they will be made of.
pub(crate) fn drop_bodies(module: &Module<'_>, entries: &[Entry]) {
    let is_entry = |name: &str| match entries {
        [] => name.starts_with(SHIM_PREFIX),
        entries => entries.iter().any(|entry| entry.symbol == name),
    };
    let functions = module.definitions().into_iter();
    let dropped: Vec<_> = functions.filter(|function| !is_entry(&function.name())).collect();
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
