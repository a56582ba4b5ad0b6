//! Resources of kernels, as the tools that made a binary say them: the attributes of a cubin, the lines of `ptxas -v`,
//! the metadata of an AMD code object.

mod amd;
mod cubin;
mod ptxas;

use std::collections::BTreeMap;

use kernelmill_artifact::Resources;

pub(crate) use amd::of_code_object;
pub(crate) use ptxas::{Spills, is_said, spills};

/// What each kernel takes, by its symbol.
pub(crate) type ByKernel = BTreeMap<String, Resources>;

/// What the kernels of a cubin take. The cubin does not have their spills, which ptxas has said.
pub(crate) fn of_cubin(cubin: &[u8], spills: &BTreeMap<String, Spills>) -> ByKernel {
    let mut found = cubin::resources(cubin);
    for (symbol, kernel) in &mut found {
        if let Some(Spills { stores, loads }) = spills.get(symbol) {
            (kernel.spill_stores, kernel.spill_loads) = (Some(*stores), Some(*loads));
        }
    }
    found
}
