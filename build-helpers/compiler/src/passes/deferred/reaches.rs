//! The functions that kernels and external device functions reach and that their source does not define: by them a
//! build knows which kernels have launch state.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Value},
};

use super::symbols::is_exported;
use crate::{base::names::SHIM_PREFIX, passes::link};

/// For the shim of each kernel and each function that others can name, those names, sorted. The uses of each name are
/// followed upwards, as few are looked at then.
pub(super) fn of(modules: &[Module<'_>]) -> BTreeMap<String, Vec<String>> {
    let mut reaches: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let functions: Vec<_> = modules.iter().flat_map(ModuleExt::functions).collect();
    let defined: HashSet<_> =
        functions.iter().filter(|it| !it.is_declaration()).map(|it| it.name()).collect();
    let names: BTreeSet<_> = functions
        .iter()
        .filter(|it| it.is_declaration() && it.is_used() && !it.is_intrinsic())
        .map(|it| it.name())
        .filter(|name| rustc_demangle::try_demangle(name).is_err() && !link::provides(name))
        .filter(|name| !defined.contains(name))
        .collect();
    for name in names {
        for user in users(modules, &name) {
            reaches.entry(user).or_default().insert(name.clone());
        }
    }
    reaches.into_iter().map(|(user, names)| (user, names.into_iter().collect())).collect()
}

/// The shims and exported functions that use a function, directly or through others, in constants too.
fn users(modules: &[Module<'_>], name: &str) -> BTreeSet<String> {
    let named = |name: &str| {
        let of_module = |module| ModuleExt::function(module, name);
        modules.iter().filter_map(of_module).collect::<Vec<_>>()
    };
    let (mut found, mut seen) = (BTreeSet::new(), HashSet::new());
    let mut work: Vec<Value<'_>> = named(name);
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        if value.is_function() {
            let name = value.name();
            if !value.is_declaration()
                && (name.starts_with(SHIM_PREFIX) || is_exported(value, &name))
            {
                found.insert(name.clone());
            }
            // Other modules declare what this one defines.
            work.extend(named(&name));
        }
        for user in value.users() {
            work.push(if user.is_instruction() { user.block().function() } else { user });
        }
    }
    found
}
