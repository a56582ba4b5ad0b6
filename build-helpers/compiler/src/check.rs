//! Checks a module before any code is generated from it.

use std::collections::BTreeSet;

use kernelmill_artifact::Target;
use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Value},
};

use crate::{Error, Fault, link, place::calls_of, target::Backend};

/// A module that has been checked: the only thing that code is generated from.
#[derive(Debug)]
pub(crate) struct ValidModule<'a, 'c> {
    module: &'a Module<'c>,
    name: &'a str,
}

impl<'a, 'c> ValidModule<'a, 'c> {
    pub(crate) fn module(&self) -> &'a Module<'c> {
        self.module
    }

    /// The source, for messages.
    pub(crate) fn name(&self) -> &'a str {
        self.name
    }
}

/// Checks a module that is ready for its target.
///
/// # Errors
///
/// [`Error::Invalid`] with every function that is called and nowhere defined, and an internal
/// error where the module breaks LLVM's rules.
pub(crate) fn output<'a, 'c>(
    module: &'a Module<'c>,
    name: &'a str,
    target: &Target,
    backend: &dyn Backend,
) -> Result<ValidModule<'a, 'c>, Error> {
    let faults = unresolved(module, target, backend);
    if !faults.is_empty() {
        return Err(Error::Invalid { target: target.clone(), faults });
    }
    module
        .verify()
        .map_err(|message| Error::Internal(format!("LLVM refuses {name}: {message}")))?;
    Ok(ValidModule { module, name })
}

/// Every function that is called and not there.
fn unresolved(module: &Module<'_>, target: &Target, backend: &dyn Backend) -> Vec<Fault> {
    let mut faults = Vec::new();
    for name in link::undefined(module) {
        if backend.provides(&name) {
            continue;
        }
        let Some(function) = module.function(&name) else { continue };
        let path = demangle(&name);
        let message = describe(&path, target);
        let calls = calls_of(function);
        let callers: BTreeSet<_> = calls.iter().map(|call| caller(*call)).collect();
        if callers.is_empty() {
            faults.push(Fault { function: "a table of functions".into(), line: None, message });
        } else {
            faults.extend(callers.into_iter().map(|(function, line)| Fault {
                function,
                line,
                message: message.clone(),
            }));
        }
    }
    faults
}

/// The function a call is in, and its line.
fn caller(call: Value<'_>) -> (String, Option<u32>) {
    let line = call.debug_line();
    (demangle(&call.block().function().name()), (line > 0).then_some(line))
}

/// A symbol as written in Rust.
pub(crate) fn demangle(symbol: &str) -> String {
    let name = symbol.strip_prefix(crate::entry::SHIM_PREFIX).unwrap_or(symbol);
    format!("{:#}", rustc_demangle::demangle(name))
}

/// What is wrong with calling a function that no library has.
fn describe(path: &str, target: &Target) -> String {
    let heap = ["__rust_alloc", "__rust_realloc", "__rust_dealloc", "alloc::alloc", "__rustc::"];
    if heap.iter().any(|start| path.contains(start)) {
        return "allocates on the heap, which kernels do not have: use arrays or slices".to_owned();
    }
    if path.starts_with("std::") || path.starts_with("<std::") {
        return format!("calls `{path}`, which needs an operating system");
    }
    format!("calls `{path}`, which has no definition for {target}")
}
