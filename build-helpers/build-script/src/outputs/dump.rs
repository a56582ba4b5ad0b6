//! Dumps as files: the code of each kernel at each stage that was asked for.

use crate::{
    base::{
        environment::BuildEnvironment,
        error::Error,
        files::{Access, write, write_if_changed},
    },
    compile::binary::Binary,
    discovery::source::Source,
    dump::{Stage, file_name, kernel_of},
    settings::{package::Package, resolved::Settings},
    toolchain::{Machine, Search, disassembly, find_tool},
};
use kernelmill_artifact::ArtifactKind;
use kernelmill_compiler::{CodeStage, CompiledKernel};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Writes the dumps of a build. Those of an earlier build are removed from kernelmill's own folder, also where
/// nothing is dumped: they would be taken for this build's.
pub(crate) fn write_all(
    environment: &BuildEnvironment,
    (package, settings): (&Package, &Settings),
    sources: &[Source],
    binaries: &[Binary],
) -> Result<(), Error> {
    let dumps = &settings.dumps;
    let mut files = BTreeMap::new();
    if !dumps.stages.is_empty() {
        let names = Names { sources };
        for binary in binaries {
            names.codes(binary, settings, &mut files);
        }
        if dumps.stages.contains(&Stage::Sass) {
            disassemble(environment, (package, settings), &names, binaries, &mut files)?;
        }
    }
    let folder = dumps.folder(package);
    if dumps.is_own() {
        remove_others(&folder, &files);
    }
    files.iter().try_for_each(|(name, text)| write_if_changed(&folder.join(name), text.as_bytes()))
}

/// The names of kernels, by the sources that they are of.
struct Names<'a> {
    sources: &'a [Source],
}

impl Names<'_> {
    /// The name of the wrapper of a compiled kernel.
    fn of<'k>(&'k self, binary: &Binary, kernel: &'k CompiledKernel) -> &'k str {
        let kernels = self.sources[binary.source].kernels().iter();
        let found = kernels.filter(|it| it.symbol == kernel.name).map(|it| &*it.name).next();
        found.unwrap_or(&kernel.name)
    }

    /// The dumps that the compiler made with a binary.
    fn codes(&self, binary: &Binary, settings: &Settings, files: &mut BTreeMap<String, String>) {
        let artifact = &binary.artifact;
        let target = binary.label();
        let is_nvidia = matches!(artifact.kind, ArtifactKind::Ptx | ArtifactKind::Cubin);
        for kernel in &artifact.kernels {
            let codes = binary.codes.iter().filter(|code| code.kernel == kernel.name);
            let codes = codes.map(|code| {
                let stage = match code.stage {
                    CodeStage::FrontEnd => Stage::Ir,
                    CodeStage::Linked => Stage::Linked,
                    CodeStage::Optimized => Stage::Opt,
                    CodeStage::Assembly if is_nvidia => Stage::Ptx,
                    CodeStage::Assembly => Stage::Asm,
                    CodeStage::Wgsl => Stage::Wgsl,
                    CodeStage::Msl => Stage::Msl,
                    CodeStage::Hlsl => Stage::Hlsl,
                };
                (stage, code.text.clone())
            });
            let mut codes: Vec<_> = codes.collect();
            if codes.is_empty() && artifact.kind == ArtifactKind::Ptx {
                // nvcc's, whose text is that of the whole source.
                codes.push((Stage::Ptx, String::from_utf8_lossy(&artifact.bytes).into_owned()));
            }
            for (stage, text) in codes {
                if settings.dumps.stages.contains(&stage) {
                    files.insert(file_name(self.of(binary, kernel), &target, stage), text);
                }
            }
        }
    }
}

/// Adds the machine code of cubins. Without nvdisasm there is a warning in its place.
fn disassemble(
    environment: &BuildEnvironment,
    (package, settings): (&Package, &Settings),
    names: &Names<'_>,
    binaries: &[Binary],
    files: &mut BTreeMap<String, String>,
) -> Result<(), Error> {
    let cubins = binaries.iter().filter(|it| it.artifact.kind == ArtifactKind::Cubin);
    let cubins: Vec<_> = cubins.collect();
    if cubins.is_empty() {
        return Ok(());
    }
    let search = Search::of_build(environment, package, settings);
    let Some(nvdisasm) = find_tool(&search, "nvdisasm") else {
        let install = Machine::cuda_command();
        environment.cargo.warn(&format!(
            "KERNELMILL_DUMP names `sass`, and nvdisasm, which prints it, was not found: `{install}` installs it"
        ));
        return Ok(());
    };
    for binary in cubins {
        let text = with_file(package, &binary.artifact.bytes, |path| disassembly(&nvdisasm, path))?;
        for kernel in &binary.artifact.kernels {
            let name = file_name(names.of(binary, kernel), &binary.label(), Stage::Sass);
            let code = kernel_of(&text, &kernel.entry).unwrap_or(&text);
            files.insert(name, format!("{code}\n"));
        }
    }
    Ok(())
}

/// Gives a function the path of a temporary file with this content.
fn with_file<T>(
    package: &Package,
    bytes: &[u8],
    function: impl FnOnce(&Path) -> Result<T, Error>,
) -> Result<T, Error> {
    // Such files of builds that were killed are removed by the next.
    let path = package.out_dir.join("kernelmill").join("dumped.cubin.tmp");
    write(&path, bytes, Access::AsUsual).map_err(Error::io("write", &path))?;
    let result = function(&path);
    let _ = fs::remove_file(&path);
    result
}

/// Removes what is not among the files of this build. What cannot be removed stays: it harms no build.
fn remove_others(folder: &PathBuf, files: &BTreeMap<String, String>) {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for entry in entries {
        if !files.contains_key(&*entry.file_name().to_string_lossy()) {
            let _ = fs::remove_file(entry.path());
        }
    }
    if files.is_empty() {
        let _ = fs::remove_dir(folder);
    }
}
