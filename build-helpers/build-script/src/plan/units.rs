//! Compilation units: every pair of a source and a target that suits it. A pair whose compiler is not there is
//! an error before any work starts.

use super::targets;
use crate::{
    base::{error::Error, report::Report},
    discovery::source::{Source, SourceKind},
    settings::{choices::CudaCompiler, resolved::Settings},
    toolchain::{CppTools, Search, check_spirv, no_clang, no_nvcc, nvcc_targets},
};
use kernelmill_artifact::{LaunchLimits, Target};
use kernelmill_compiler::Config;

/// One binary to make.
#[derive(Debug)]
pub(crate) struct Unit {
    /// The source's place among the sources.
    pub(crate) source: usize,
    pub(crate) compiler: UnitCompiler,
    pub(crate) config: Config,
    /// Of a variant of kernels, what is said of its launches in place of what is said of the kernels'.
    pub(crate) variant: Option<LaunchLimits>,
}

/// The unit compiler: what makes a binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnitCompiler {
    /// The LLVM pipeline: a front end and then kernelmill's compiler.
    LlvmPipeline,
    /// nvcc alone.
    Nvcc,
    /// clang alone, for OpenCL devices, behind the front end that reads the signatures.
    Clang,
    /// ptxas alone: the text is compiled.
    Ptxas,
    /// naga alone.
    Naga,
}

impl UnitCompiler {
    /// Whether a front end of the LLVM pipeline comes before it.
    pub(crate) fn has_front(self) -> bool {
        matches!(self, Self::LlvmPipeline | Self::Clang)
    }
}

/// Every unit, by source and then by target.
///
/// # Errors
///
/// [`Error::Sources`] with every compiler that is not there.
pub(crate) fn plan(
    sources: &[Source],
    settings: &Settings,
    search: &Search<'_>,
    tools: &CppTools,
) -> Result<Vec<Unit>, Error> {
    let mut report = Report::default();
    let mut units = Vec::new();
    for kind in SourceKind::ALL {
        let of_kind: Vec<_> =
            sources.iter().enumerate().filter(|(_, source)| source.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let names: Vec<_> = of_kind.iter().map(|(_, it)| format!("`{}`", it.display)).collect();
        let names = names.join(", ");
        match kind {
            SourceKind::Cuda => check_tools(settings, search, tools, &names, &mut report),
            SourceKind::Hip if tools.clang.is_none() => no_clang(search, None, &names, &mut report),
            SourceKind::OpenCl => match &tools.clang {
                None => no_clang(search, None, &names, &mut report),
                Some(clang) if settings.targets.contains(&Target::Spirv64) => {
                    check_spirv(search, clang, &names, &mut report)?;
                }
                Some(_) => {}
            },
            SourceKind::File
            | SourceKind::Package
            | SourceKind::Hip
            | SourceKind::LlvmIr
            | SourceKind::Ptx
            | SourceKind::Wgsl => {}
        }
        for (index, source) in of_kind {
            units.extend(targets::of_source(source, settings)?.into_iter().map(|target| Unit {
                source: index,
                compiler: compiler(kind, &target, settings, tools),
                config: Config {
                    target,
                    params: settings.params.clone(),
                    options: settings.options.clone(),
                },
                variant: None,
            }));
        }
    }
    report.into_result(Error::Sources)?;
    units.sort_by_key(|unit| unit.source);
    Ok(units)
}

/// Who compiles sources of a kind for a target that suits them.
fn compiler(
    kind: SourceKind,
    target: &Target,
    settings: &Settings,
    tools: &CppTools,
) -> UnitCompiler {
    let is_by_nvcc = || is_nvidia(target) && tools.compiles_kernels(settings).is_some();
    match (kind, target) {
        (SourceKind::OpenCl, Target::Spirv64 | Target::OpenClC) => UnitCompiler::Clang,
        (SourceKind::Ptx, _) => UnitCompiler::Ptxas,
        (SourceKind::Wgsl, _) => UnitCompiler::Naga,
        (SourceKind::Cuda, _) if is_by_nvcc() => UnitCompiler::Nvcc,
        _ => UnitCompiler::LlvmPipeline,
    }
}

/// Reports the compilers that CUDA C++ needs for these targets and that are not there, and the
/// architectures that nvcc does not know.
fn check_tools(
    settings: &Settings,
    search: &Search<'_>,
    tools: &CppTools,
    names: &str,
    report: &mut Report,
) {
    let nvcc = tools.compiles_kernels(settings);
    if let Some(nvcc) = nvcc {
        nvcc_targets(nvcc, &settings.targets, report);
    }
    let text = |nvidia: bool| {
        let targets = settings.targets.iter().filter(|target| SourceKind::Cuda.suits(target));
        let targets = targets.filter(|target| is_nvidia(target) == nvidia);
        let targets: Vec<_> = targets.map(|target| format!("`{target}`")).collect();
        format!("{names} for {}", targets.join(", "))
    };
    let insists = settings.cuda_compiler == CudaCompiler::Nvcc;
    if settings.has_nvidia() && nvcc.is_none() && (insists || tools.clang.is_none()) {
        match settings.cuda_compiler {
            CudaCompiler::Clang => no_clang(search, None, &text(true), report),
            CudaCompiler::Auto | CudaCompiler::Nvcc => no_nvcc(search, &text(true), report),
        }
    }
    if settings.has_others() && tools.clang.is_none() {
        no_clang(search, None, &text(false), report);
    }
}

fn is_nvidia(target: &Target) -> bool {
    matches!(target, Target::Ptx(_) | Target::Cubin(_))
}
