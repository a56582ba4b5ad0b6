//! Where the functions here say that they are in the source.
//!
//! Bodies of kernels, their regions, lanes and coroutines are made of instructions of other functions.
//! A debugger wants to know of each function one place, and LLVM that all lines in it are of that or
//! inlined into it: so each is given a name of its own, the kernel's, at the kernel's line.

use kernelmill_artifact::Signature;
use kernelmill_llvm::ir::{Lines, ModuleExt};

use crate::target::Unit;

/// Gives every function of a module with source lines such of its own.
pub(super) fn settle(unit: &Unit<'_, '_>) {
    let Some(first) = unit.signatures.first() else { return };
    let lines = Lines::new(unit.context, unit.module, &first.file);
    for function in unit.module.definitions() {
        if function.has_source_lines() {
            lines.complete(function);
            continue;
        }
        let symbol = function.name();
        let own = unit.signatures.iter().filter(|kernel| is_of(&symbol, unit.name, kernel));
        // `scale_2` is one of `scale`, unless there is a kernel of that name.
        let kernel = own.max_by_key(|kernel| kernel.symbol.len());
        let (name, line) = kernel.map_or((&*symbol, 0), |kernel| (kernel.name(), kernel.line));
        lines.own(function, name, line);
    }
}

/// Whether a function is one of those of a kernel, by its symbol: `kernelmill_cpu_UNIT_KERNEL_run8`,
/// `KERNEL.body.group0x8`.
fn is_of(symbol: &str, unit: &str, kernel: &Signature) -> bool {
    let own = symbol.strip_prefix(&format!("kernelmill_cpu_{unit}_")).unwrap_or(symbol);
    let rest = own.strip_prefix(&*kernel.symbol);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
}
