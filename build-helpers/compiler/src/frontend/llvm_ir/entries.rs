//! The kernels of a module: functions that another compiler marked as such, and those that the settings declare.

use kernelmill_artifact::symbol;
use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Value},
};

use super::source::IrSource;

/// LLVM's numbers of the calling conventions of kernels: `ptx_kernel`, `spir_kernel`, `amdgpu_kernel`. LLVM makes the
/// first of `nvvm.annotations` when it reads a module.
const CONVENTIONS: [u32; 3] = [PTX_KERNEL, 76, 91];
const PTX_KERNEL: u32 = 71;

/// A kernel as the file has it.
pub(super) struct Entry {
    /// Its name in the file.
    pub(super) name: String,
    /// Its name from here on, which every tool takes.
    pub(super) symbol: String,
    /// The address space that each parameter points into; `None` for values.
    pub(super) spaces: Vec<Option<u32>>,
    /// The block that AMD's code generator makes it for, where that is less than every block; 0 otherwise.
    pub(super) max_threads: u32,
}

/// Finds the kernels, and gives all of them one calling convention and names that every tool takes.
pub(super) fn settle(module: &Module<'_>, source: &IrSource) -> Result<Vec<Entry>, String> {
    let mut entries: Vec<Entry> = Vec::new();
    for function in module.definitions() {
        let name = function.name();
        let is_declared = || source.declared.iter().any(|it| it.is(&source.display, &name));
        if !CONVENTIONS.contains(&function.calling_convention()) && !is_declared() {
            continue;
        }
        let symbol = symbol(&name);
        if symbol != name {
            if ModuleExt::function(module, &symbol).is_some() {
                return Err(format!(
                    "the kernel `{name}` gets the symbol `{symbol}`, which another function already has: rename \
                     one of them"
                ));
            }
            function.set_name(&symbol);
        }
        function.set_calling_convention(PTX_KERNEL);
        let types = function.value_type().parameters().into_iter();
        let spaces = types.map(|ty| ty.is_pointer().then(|| ty.address_space())).collect();
        entries.push(Entry { name, symbol, spaces, max_threads: max_threads(function) });
    }
    Ok(entries)
}

/// The upper bound of `amdgpu-flat-work-group-size`, where it is not that of every block.
fn max_threads(function: Value<'_>) -> u32 {
    let bounds = function.text_attribute("amdgpu-flat-work-group-size").unwrap_or_default();
    let most = bounds.split(',').nth(1).and_then(|most| most.trim().parse().ok()).unwrap_or(0);
    if most < 1024 { most } else { 0 }
}
