//! Mangled names: of the functions that kernels become on the CPU, and of entries where a job asks for them.

use kernelmill_artifact::Signature;
use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{Linkage, ModuleExt, Value},
};

use super::unit::Entry;
use crate::{
    base::{
        mangle::mangle,
        names::{SHIM_PREFIX, WRAPPED},
    },
    job::Job,
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

/// The names that tools show for the functions of each kernel on the CPU, without a suffix: the one that the options of
/// a job have, the symbol in C++ that is mangled already, the path of a kernel in Rust with its types, else its symbol.
/// Shims are still there.
pub(crate) fn shown_names(module: &Module<'_>, job: &Job<'_>) -> Vec<String> {
    let name = |signature: &Signature| {
        if let Some(chosen) = &job.config.options.name {
            return chosen.clone();
        }
        let shim = module.function(&format!("{SHIM_PREFIX}{}", signature.symbol));
        match shim.and_then(|shim| path_of_kernel(shim, signature)) {
            Some(path) => mangle(&path.split("::").collect::<Vec<_>>(), signature),
            None => signature.symbol.to_string(),
        }
    };
    job.source.signatures.iter().map(name).collect()
}

/// Gives the functions of kernels on the CPU the names that tools show for them, each with what it is as a suffix that
/// [demanglers] read: `saxpy::saxpy(float) [clone .run8]` is the function that runs a block with vectors of 8 threads.
/// Nothing looks these functions up: the constant of a kernel has their addresses.
///
/// [demanglers]: https://gcc.gnu.org/onlinedocs/libstdc++/manual/ext_demangling.html
pub(crate) fn name_functions(
    module: &Module<'_>,
    (unit, signatures): (&str, &[Signature]),
    names: &[String],
) {
    for function in module.definitions() {
        if function.linkage() != Linkage::Internal {
            continue;
        }
        let symbol = function.name();
        let of_kernel = |(signature, name): (&Signature, &String)| {
            let part = part(&symbol, unit, &signature.symbol)?;
            Some((signature.symbol.len(), format!("{name}.{}", suffix(part))))
        };
        // A kernel may be called as a part of another is.
        let found = signatures.iter().zip(names).filter_map(of_kernel);
        if let Some((_, name)) = found.max_by_key(|(length, _)| *length) {
            function.set_name(&name);
        }
    }
}

/// What a function is of a kernel's: `run8` of `kernelmill_cpu_UNIT_KERNEL_run8`, `region0x8` of
/// `KERNEL.body.region0x8`.
fn part<'s>(symbol: &'s str, unit: &str, kernel: &str) -> Option<&'s str> {
    let entry = symbol.strip_prefix("kernelmill_cpu_").and_then(|rest| rest.strip_prefix(unit));
    if let Some(rest) = entry {
        let part = rest.strip_prefix('_')?.strip_prefix(kernel)?.strip_prefix('_')?;
        let is_known = ["run", "catch", "start", "resume"].iter().any(|it| part.starts_with(it));
        return is_known.then_some(part);
    }
    let rest = symbol.strip_prefix(kernel)?.strip_prefix(".body")?;
    match rest.strip_prefix('.') {
        Some(part) => Some(part),
        None => rest.is_empty().then_some("body"),
    }
}

/// A part as demanglers read it behind a dot: lower case letters, digits and underscores.
fn suffix(part: &str) -> String {
    let letter = |letter: char| match letter.to_ascii_lowercase() {
        letter @ ('a'..='z' | '0'..='9') => letter,
        _ => '_',
    };
    part.chars().map(letter).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_kernel_are_told_from_other_functions() {
        let part = |symbol| part(symbol, "app_saxpy_1f", "saxpy");
        assert_eq!(part("kernelmill_cpu_app_saxpy_1f_saxpy_run8_columns"), Some("run8_columns"));
        assert_eq!(part("kernelmill_cpu_app_saxpy_1f_saxpy_catch"), Some("catch"));
        assert_eq!(part("saxpy.body.region0x8"), Some("region0x8"));
        assert_eq!(part("saxpy.body"), Some("body"));
        for other in
            ["kernelmill_cpu_app_saxpy_1f_saxpy_2_run8", "saxpy_run8", "saxpy", "saxpy.bodyguard"]
        {
            assert_eq!(part(other), None, "{other}");
        }
        assert_eq!(suffix("region0x8.Mine-7"), "region0x8_mine_7");
    }
}
