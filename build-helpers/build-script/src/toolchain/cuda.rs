//! NVIDIA's assembler and disassemblers.

use super::{ask::ask, nvcc, search::Search};
use crate::base::error::Error;
use kernelmill_store::can_execute;
use std::{
    env::consts::EXE_SUFFIX,
    path::{Path, PathBuf},
};

/// The folders of libraries in a toolkit: NVIDIA's installer, its Python packages, conda, Windows.
pub(crate) const FOLDERS_OF_LIBRARIES: [&str; 5] =
    ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib/x64"];

/// Finds ptxas: `KERNELMILL_PTXAS`, beside nvcc, and where nvcc would be.
pub(crate) fn find_ptxas(search: &Search<'_>) -> Option<PathBuf> {
    match search.environment.path("KERNELMILL_PTXAS") {
        Some(set) => Some(set),
        None => find_tool(search, "ptxas"),
    }
}

/// Finds NVIDIA's mathematical functions, in the folder that has ptxas in `bin`.
pub(crate) fn find_libdevice(search: &Search<'_>) -> Option<PathBuf> {
    let ptxas = find_ptxas(search)?;
    let root = ptxas.parent()?.parent()?;
    Some(root.join("nvvm/libdevice/libdevice.10.bc")).filter(|path| path.is_file())
}

/// Finds a program of CUDA's, for example `nvdisasm`: beside nvcc, and where nvcc would be.
pub(crate) fn find_tool(search: &Search<'_>, name: &str) -> Option<PathBuf> {
    // An nvcc that is named wrongly stops those builds that need one, and no others.
    let nvcc = nvcc::locate(search).ok().flatten();
    let beside = nvcc.map(|nvcc| nvcc.with_file_name(format!("{name}{EXE_SUFFIX}")));
    beside.filter(|path| can_execute(path)).or_else(|| search.in_cuda(name))
}

/// The machine code in a cubin, as text.
pub(crate) fn disassembly(nvdisasm: &Path, cubin: &Path) -> Result<String, Error> {
    ask(nvdisasm, &["-c", &cubin.to_string_lossy()])
}
