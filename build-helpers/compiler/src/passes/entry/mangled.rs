//! Mangled names of entries, where a job asks for them.

use kernelmill_artifact::Signature;
use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Value},
};

use super::unit::Entry;
use crate::base::{
    mangle::mangle,
    names::{SHIM_PREFIX, WRAPPED},
};

/// Gives the entries of kernels in Rust symbols that tools show as the kernel's path, with the types of its
/// parameters. Kernels in C++ have such symbols, or names that their authors chose.
pub(crate) fn mangle_entries(module: &Module<'_>, signatures: &[Signature], entries: &mut [Entry]) {
    for (signature, entry) in signatures.iter().zip(entries) {
        let shim = module.function(&format!("{SHIM_PREFIX}{}", signature.symbol));
        let Some(path) = shim.and_then(|shim| path_of_kernel(shim, signature)) else { continue };
        let Some(function) = module.function(&entry.symbol) else { continue };
        let parts: Vec<_> = path.split("::").collect();
        entry.symbol = mangle(&parts, signature);
        function.set_name(&entry.symbol);
    }
}

/// The path of the function that a shim calls, which is the kernel as it is written.
fn path_of_kernel(shim: Value<'_>, signature: &Signature) -> Option<String> {
    let called = shim.calls().into_iter().filter_map(Value::called_function);
    let mut paths = called.filter_map(|callee| {
        let name = callee.name();
        if name.starts_with(SHIM_PREFIX) && name.ends_with(WRAPPED) {
            return path_of_kernel(callee, signature);
        }
        let path = format!("{:#}", rustc_demangle::try_demangle(&name).ok()?);
        let last = path.rsplit("::").next()?;
        (last == signature.name).then_some(path)
    });
    paths.next()
}
