//! The kernels of a build, in the form in which two builds are compared: resources, lowering strategy, and the text of
//! their code without what differs between two builds of the same code.

use super::{
    bare::{bare, bare_assembly, bare_ir, bare_source},
    source::{Language, of_kernel},
};
use crate::{
    assembly,
    package::{Built, Selection},
    report::{self, Usage},
};
use anyhow::{Context as _, Result};
use kernelmill_artifact::Target;
use kernelmill_build::{
    dump::{self, Stage, kernel_of},
    manifest::{Binary, BinaryKind, CompiledKernel},
};
use std::{collections::BTreeMap, fs, io::ErrorKind};

/// The stages by which binaries are compared that are not printed.
const DUMPS: &str = "asm,wgsl";

/// The same with LLVM's IR, by which modules for OpenCL devices are compared.
const DUMPS_WITH_IR: &str = "asm,wgsl,opt";

/// A kernel in one binary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Code {
    /// Its code as text, without what only says where it comes from; `None` for binaries that are not printed, of a build
    /// that has not dumped them.
    pub(super) text: Option<String>,
    /// The digest of all that the binary depends on.
    pub(super) fingerprint: String,
    /// The binary, where it is not printed.
    pub(super) binary: Vec<u8>,
    /// The size of the binary, which other kernels of its source are in too.
    pub(super) bytes: u64,
    /// What it takes.
    pub(super) usage: Usage,
    /// Its lowering strategy on the CPU.
    pub(super) strategy: Option<String>,
}

/// The kernels of a build, by target and name.
pub(super) type Kernels = BTreeMap<(String, String), Code>;

/// Builds a package, of whose binaries code is to be compared.
pub(super) fn build(selection: &Selection, target: Option<&str>) -> Result<Built> {
    let with = |stages| {
        let variables = [("KERNELMILL_DUMP", stages), ("KERNELMILL_DUMP_DIR", "")];
        selection.build_with(target, &variables)
    };
    let built = with(DUMPS)?;
    // LLVM's IR would have the others compiled once more too, so it is asked for where it is needed alone.
    let is_opencl = |binary: &Binary| stage(binary) == Some(Stage::Opt);
    if built.manifest.binaries.iter().any(is_opencl) { with(DUMPS_WITH_IR) } else { Ok(built) }
}

/// The stage whose dump is the code of a binary that is not printed itself.
fn stage(binary: &Binary) -> Option<Stage> {
    match binary.kind {
        BinaryKind::Object | BinaryKind::CodeObject => Some(Stage::Asm),
        BinaryKind::Spirv if binary.target == Target::Vulkan.to_string() => Some(Stage::Wgsl),
        BinaryKind::Spirv => Some(Stage::Opt),
        _ => None,
    }
}

/// Reads the kernels of a build, of one target or of all.
pub(super) fn kernels(built: &Built, target: Option<&str>) -> Result<Kernels> {
    let mut found = Kernels::new();
    let is_wanted = |it: &str| target.is_none_or(|target| target == it);
    for binary in built.manifest.binaries.iter().filter(|binary| is_wanted(&binary.target)) {
        let text = match assembly::is_printable(binary) {
            true => Some(assembly::text(binary.kind, &built.path(&binary.file))?),
            false => None,
        };
        let path = built.path(&binary.file);
        let bytes = match text {
            Some(_) => Vec::new(),
            None => fs::read(&path).with_context(|| path.display().to_string())?,
        };
        for kernel in &binary.kernels {
            let text = text.as_ref().map(|text| kernel_of(text, &kernel.entry).unwrap_or_default());
            let sass = text.filter(|_| binary.kind == BinaryKind::Cubin).unwrap_or_default();
            let code = Code {
                text: match text {
                    Some(text) => Some(bare(text)),
                    None => code(built, binary, kernel)?,
                },
                binary: bytes.clone(),
                bytes: binary.bytes,
                fingerprint: binary.fingerprint.clone(),
                usage: report::usage(binary, kernel, sass),
                strategy: strategy(kernel),
            };
            found.insert((binary.target.clone(), report::name(built, kernel)), code);
        }
    }
    Ok(found)
}

/// The code of a kernel in a binary that is not printed, where there is a text of it.
fn code(built: &Built, binary: &Binary, kernel: &CompiledKernel) -> Result<Option<String>> {
    if binary.kind == BinaryKind::OpenclC {
        let path = built.path(&binary.file);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        return Ok(Some(source(&text, Language::OpenclC, kernel)));
    }
    let Some(stage) = stage(binary) else { return Ok(None) };
    let text = dumped(built, (binary, kernel), stage)?;
    Ok(text.map(|text| match stage {
        Stage::Opt => bare_ir(&text),
        Stage::Wgsl => source(&text, Language::Wgsl, kernel),
        _ => bare_assembly(&text),
    }))
}

/// What a kernel is made of in a source, which may have others.
fn source(text: &str, language: Language, kernel: &CompiledKernel) -> String {
    let part = of_kernel(text, language, &kernel.entry);
    bare_source(part.as_deref().unwrap_or(text))
}

/// A kernel at a stage, where the build has dumped it.
fn dumped(
    built: &Built,
    (binary, kernel): (&Binary, &CompiledKernel),
    stage: Stage,
) -> Result<Option<String>> {
    let name = dump::file_name(report::wrapper(built, kernel), &assembly::label(binary), stage);
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
