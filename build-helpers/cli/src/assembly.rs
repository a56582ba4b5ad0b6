//! Assembly text of binaries: PTX, and SASS as nvdisasm prints it.

use crate::tools;
use anyhow::{Context as _, Result};
use kernelmill_build::{
    dump::{self, Stage},
    manifest::{Binary, BinaryKind},
    toolchain::Machine,
};
use std::{env, fs, path::Path};

/// Whether a binary can be printed as text.
pub(crate) fn is_printable(binary: &Binary) -> bool {
    matches!(binary.kind, BinaryKind::Ptx | BinaryKind::Cubin)
}

/// The target and variant of a binary, by which its dumps are named. Variants that share a binary share these too.
pub(crate) fn label(binary: &Binary) -> String {
    let own = dump::file_name("", &binary.target, Stage::Asm);
    let own = own.strip_suffix(".s").unwrap_or(&own);
    let places = binary.file.rmatch_indices(own).map(|(place, _)| place);
    let end = binary.file.rfind('.').unwrap_or_default();
    let is_whole = |place: &usize| binary.file[place + own.len()..].starts_with('.');
    let found = places.filter(is_whole).find_map(|place| binary.file.get(place + 1..end));
    found.unwrap_or(&binary.target).to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dumps_are_named_as_binaries_are() {
        for (file, target, expected) in [
            ("saxpy.compute_75.threads64.ptx", "compute_75", "compute_75.threads64"),
            ("saxpy.cpu.o", "cpu", "cpu"),
            ("a.cpu.cpu.TILE32.o", "cpu", "cpu.TILE32"),
            ("saxpy.gfx90a-xnack+.hsaco", "gfx90a:xnack+", "gfx90a-xnack+"),
            ("own.ptx", "compute_75", "compute_75"),
        ] {
            let binary = format!(
                r#"{{"file": "{file}", "source": "a.rs", "target": "{target}", "kind": "object", "bytes": 1,
                "fingerprint": "0", "kernels": []}}"#
            );
            assert_eq!(label(&serde_json::from_str(&binary).unwrap()), expected);
        }
    }
}
