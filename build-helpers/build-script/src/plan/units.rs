//! Compilation units: every pair of a source and a target that suits it. A pair whose compiler is not there is
//! an error before any work starts.

use super::targets;
use crate::{
    base::{error::Error, report::Report},
    discovery::{
        override_file::{Form, KernelOverride},
        source::{Source, SourceKind},
    },
    settings::{choices::CudaCompiler, resolved::Settings, variants::VariantParameters},
    toolchain::{CppTools, Search, check_spirv, no_clang, no_nvcc, nvcc_targets},
};
use kernelmill_artifact::{Signature, Target};
use kernelmill_compiler::{Config, diagnostic::Code};
use std::collections::BTreeMap;

/// One binary to make.
#[derive(Debug)]
pub(crate) struct Unit {
    /// The source's place among the sources.
    pub(crate) source: usize,
    pub(crate) compiler: UnitCompiler,
    pub(crate) config: Config,
    /// Of a variant of kernels, what it says in place of the kernels.
    pub(crate) variant: Option<VariantParameters>,
    /// Of a file that stands for a kernel and is a module of its own, its place among those of the source.
    pub(crate) override_index: Option<usize>,
}

impl Unit {
    /// The files that stand for kernels of the source in this unit.
    pub(crate) fn overrides<'s>(
        &'s self,
        source: &'s Source,
        settings: &'s Settings,
    ) -> impl Iterator<Item = &'s KernelOverride> {
        let target = &self.config.target;
        let is_wanted = move |it: &&KernelOverride| {
            let mut kernels = source.kernels().iter();
            let kernel = kernels.find(|kernel| kernel.symbol == it.symbol);
            let is_wanted = kernel.is_some_and(|kernel| source.wants(kernel, target, settings));
            it.form.is_for(target) && self.compiler.takes(it.form) && is_wanted
        };
        source.overrides.iter().filter(is_wanted)
    }

    /// The kernels of the source that it has: all that its target is to have but those that files stand for in
    /// modules of their own.
    pub(crate) fn kernels<'s>(
        &'s self,
        source: &'s Source,
        settings: &'s Settings,
    ) -> impl Iterator<Item = &'s Signature> {
        let has_module_each = self.compiler.has_module_each();
        let target = &self.config.target;
        let is_its_own = move |kernel: &&Signature| {
            let mut overrides = self.overrides(source, settings);
            source.wants(kernel, target, settings)
                && self.has_variant(kernel, settings)
                && !(has_module_each && overrides.any(|it| it.symbol == kernel.symbol))
        };
        source.kernels().iter().filter(is_its_own)
    }

    /// Whether a kernel has the variant that the unit is for, if it is for one.
    pub(crate) fn has_variant(&self, kernel: &Signature, settings: &Settings) -> bool {
        let Some(variant) = &self.variant else { return true };
        let target = &self.config.target;
        let listed = settings.variants(kernel, target);
        listed.iter().any(|it| it.code_for(target).as_ref() == Some(variant))
    }

    /// The macros that its source is compiled with besides those of all kernels.
    pub(crate) fn defines(&self) -> Option<&BTreeMap<String, String>> {
        self.variant.as_ref().map(|it| &it.defines).filter(|defines| !defines.is_empty())
    }

    /// The units that it becomes: itself, where a kernel is left in it, and one for each file that is a module of its
    /// own.
    pub(crate) fn with_overrides(self, source: &Source, settings: &Settings) -> Vec<Self> {
        if !self.compiler.has_module_each() {
            return vec![self];
        }
        let with_override = |it: &KernelOverride| {
            let place = source.overrides.iter().position(|known| known.symbol == it.symbol);
            Self { config: self.config.clone(), variant: None, override_index: place, ..self }
        };
        let mut units: Vec<_> = self.overrides(source, settings).map(with_override).collect();
        let is_left =
            source.signatures.is_none() || self.kernels(source, settings).next().is_some();
        if is_left {
            units.insert(0, self);
        }
        units
    }
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

    /// Whether a file of this form can stand for a kernel that it compiles.
    pub(crate) fn takes(self, form: Form) -> bool {
        match self {
            Self::LlvmPipeline => !matches!(form, Form::Wgsl | Form::Spirv),
            Self::Nvcc => matches!(form, Form::Cuda | Form::Ptx),
            Self::Clang => matches!(form, Form::OpenCl | Form::Spirv),
            Self::Ptxas => form == Form::Ptx,
            Self::Naga => form == Form::Wgsl,
        }
    }

    /// Whether a file that stands for a kernel becomes a module beside that of the other kernels.
    fn has_module_each(self) -> bool {
        matches!(self, Self::Clang | Self::Naga)
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
            SourceKind::Hip | SourceKind::OpenCl if tools.clang.is_none() => {
                no_clang(search, None, &names, &mut report);
            }
            _ => {}
        }
        if kind.suits(&Target::Spirv64) && settings.targets.contains(&Target::Spirv64) {
            match &tools.clang {
                Some(clang) => check_spirv(search, clang, &names, &mut report)?,
                None if !kind.is_for_clang() => no_clang(search, None, &names, &mut report),
                None => {}
            }
        }
        for (index, source) in of_kind {
            // The check of targets says what is wrong with the head of a file.
            let targets = targets::of_source(source, settings).unwrap_or_default();
            // Discovery says so of sources in WGSL.
            let lacks_naga = !cfg!(feature = "wgsl") && kind != SourceKind::Wgsl;
            if lacks_naga && targets.contains(&Target::Vulkan) {
                no_naga(source, &mut report);
            }
            units.extend(targets.into_iter().map(|target| Unit {
                source: index,
                compiler: compiler(kind, &target, settings, tools),
                config: Config {
                    target,
                    params: settings.params.clone(),
                    options: settings.options.clone(),
                },
                variant: None,
                override_index: None,
            }));
        }
    }
    report.into_result(Error::Sources)?;
    units.sort_by_key(|unit| unit.source);
    Ok(units)
}

/// Says that a source in another language than WGSL is for Vulkan.
fn no_naga(source: &Source, report: &mut Report) {
    report.plain(
        Code::MissingFeature,
        format!(
            "`{}` is for the target `vulkan`, and kernelmill-build was built without naga",
            source.display
        ),
        "enable the feature `wgsl` of kernelmill-build in Cargo.toml: `features = [\"wgsl\"]`; or leave the target out for \
         its kernels",
    );
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
