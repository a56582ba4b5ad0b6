//! Reader of the external device functions and the deferred references of modules.

use std::collections::BTreeSet;

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{Linkage, ModuleExt, Value},
};

use crate::{
    base::names::{DEFERRED, EXPORTED, PREFIX, SHIM_PREFIX},
    job::Symbols,
    passes::link,
};

/// What parsed modules define and name.
pub(super) fn of<'c>(modules: &[Module<'c>]) -> Symbols {
    let [mut defines, mut defers, mut externals] = [(); 3].map(|()| BTreeSet::new());
    for function in modules.iter().flat_map(ModuleExt::functions) {
        let name = function.name();
        if function.is_declaration() {
            let deferred = name.strip_prefix(DEFERRED).filter(|_| function.is_used());
            defers.extend(deferred.map(str::to_owned));
            if function.is_used() && is_external(function, &name) {
                externals.insert(name);
            }
        } else if is_exported(function, &name) {
            defines.insert(name);
        }
    }
    let sorted = |names: BTreeSet<String>| names.into_iter().collect();
    externals.retain(|name| !defines.contains(name));
    let [defines, defers, externals] = [defines, defers, externals].map(sorted);
    Symbols { defines, defers, externals, ..Symbols::default() }
}

/// Whether a function that is declared only may be one of a library of device code's.
fn is_external(function: Value<'_>, name: &str) -> bool {
    let is_rusts = rustc_demangle::try_demangle(name).is_ok();
    !is_rusts && !function.is_intrinsic() && !name.starts_with(PREFIX) && !link::provides(name)
}

/// Whether other sources can name a function: it is visible, and its name is not one that rustc
/// made.
pub(super) fn is_exported(function: Value<'_>, name: &str) -> bool {
    let is_local = [Linkage::Internal, Linkage::Private].contains(&function.linkage());
    let is_rusts = rustc_demangle::try_demangle(name).is_ok();
    let is_ours = name.starts_with(PREFIX) || name.starts_with(SHIM_PREFIX);
    !is_local && !is_rusts && (!is_ours || name.starts_with(EXPORTED))
}
