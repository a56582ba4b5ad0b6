//! The kernels of a build, in the form in which two builds are compared: resources, lowering strategy, and the text of
//! their code without what differs between two builds of the same code.

use super::bare::{bare, bare_assembly};
use crate::{
    assembly,
    package::Built,
    report::{self, Usage},
};
use anyhow::{Context as _, Result};
use kernelmill_build::{
    dump::{self, Stage, kernel_of},
    manifest::{Binary, BinaryKind, CompiledKernel},
};
use std::{collections::BTreeMap, fs, io::ErrorKind};

/// The variables of a build whose binaries are not printed: it leaves their assembly text beside them.
pub(super) const DUMPS: [(&str, &str); 2] =
    [("KERNELMILL_DUMP", "asm"), ("KERNELMILL_DUMP_DIR", "")];

/// A kernel in one binary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Code {
    /// PTX, SASS or assembly text without what only says where it comes from; `None` for binaries that are not printed, of
    /// a build that has not dumped them.
    pub(super) text: Option<String>,
    /// The digest of all that the binary depends on.
    pub(super) fingerprint: String,
    /// What it takes.
    pub(super) usage: Usage,
    /// Its lowering strategy on the CPU.
    pub(super) strategy: Option<String>,
}

/// The kernels of a build, by target and name.
pub(super) type Kernels = BTreeMap<(String, String), Code>;

/// Reads the kernels of a build, of one target or of all.
pub(super) fn kernels(built: &Built, target: Option<&str>) -> Result<Kernels> {
    let mut found = Kernels::new();
    let is_wanted = |it: &str| target.is_none_or(|target| target == it);
    for binary in built.manifest.binaries.iter().filter(|binary| is_wanted(&binary.target)) {
        let text = match assembly::is_printable(binary) {
            true => Some(assembly::text(binary.kind, &built.path(&binary.file))?),
            false => None,
        };
        for kernel in &binary.kernels {
            let text = text.as_ref().map(|text| kernel_of(text, &kernel.entry).unwrap_or_default());
            let sass = text.filter(|_| binary.kind == BinaryKind::Cubin).unwrap_or_default();
            let code = Code {
                text: match text {
                    Some(text) => Some(bare(text)),
                    None => dumped(built, binary, kernel)?.as_deref().map(bare_assembly),
                },
                fingerprint: binary.fingerprint.clone(),
                usage: report::usage(binary, kernel, sass),
                strategy: strategy(kernel),
            };
            found.insert((binary.target.clone(), report::name(built, kernel)), code);
        }
    }
    Ok(found)
}

/// The assembly text of a kernel, where the build has dumped it.
fn dumped(built: &Built, binary: &Binary, kernel: &CompiledKernel) -> Result<Option<String>> {
    let target = match &kernel.variant {
        Some(variant) => format!("{}.{}", binary.target, variant.name),
        None => binary.target.clone(),
    };
    let name = dump::file_name(report::wrapper(built, kernel), &target, Stage::Asm);
    let path = built.folder.join(dump::FOLDER).join(name);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

fn strategy(kernel: &CompiledKernel) -> Option<String> {
    kernel.strategy.as_ref().map(ToString::to_string)
}
