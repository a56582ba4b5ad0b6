//! Assembly text of binaries: PTX, and SASS as nvdisasm prints it.

use crate::tools;
use anyhow::{Context as _, Result};
use kernelmill_build::{
    manifest::{Binary, BinaryKind},
    toolchain::Machine,
};
use std::{env, fs, path::Path};

/// Whether a binary can be printed as text.
pub(crate) fn is_printable(binary: &Binary) -> bool {
    matches!(binary.kind, BinaryKind::Ptx | BinaryKind::Cubin)
}

/// PTX as it is, a cubin as nvdisasm prints it.
pub(crate) fn text(kind: BinaryKind, path: &Path) -> Result<String> {
    if kind == BinaryKind::Ptx {
        return fs::read_to_string(path).with_context(|| path.display().to_string());
    }
    disassemble(path, &["-c"])
}

/// The SASS of a cubin with remarks of the source lines, where it has line information.
pub(crate) fn with_lines(cubin: &Path) -> Result<String> {
    disassemble(cubin, &["-c", "--print-line-info"])
}

fn disassemble(path: &Path, options: &[&str]) -> Result<String> {
    let nvdisasm = Machine::at(env::current_dir()?).cuda_tool("nvdisasm").with_context(|| {
        format!("nvdisasm was not found: install it with `{}`", Machine::cuda_command())
    })?;
    let file = path.display().to_string();
    let arguments = [options, &[file.as_str()]].concat();
    tools::output(&nvdisasm, &arguments)
        .with_context(|| format!("nvdisasm cannot disassemble {file}"))
}
