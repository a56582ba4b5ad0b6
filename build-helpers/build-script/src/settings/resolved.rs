//! Resolved settings: merged from all layers, with their defaults, and checked.

use super::{
    choices::{ArgumentsOf, CudaCompiler, ExcessSpills},
    dumps::Dumps,
    kernel::{self, KernelSettings},
    layer::RuleText,
    located::MappedType,
    sources::SourcesSettings,
    thresholds::Thresholds,
    variants::{self, VariantParameters, VariantSettings},
};
use crate::{
    base::{glob::Glob, report::Report},
    tuning::Choice,
};
use kernelmill_artifact::{Signature, Target};
use kernelmill_compiler::{Options, Params, frontend::llvm_ir::DeclaredKernel};
use std::{collections::BTreeMap, path::PathBuf};

/// The settings of a build, checked.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Each once, in the order they were written.
    pub(crate) targets: Vec<Target>,
    /// Whether the environment says them, for one build.
    pub(crate) has_targets_of_environment: bool,
    pub(crate) source_dirs: Vec<String>,
    pub(crate) source_files: Vec<String>,
    pub(crate) source_globs: Vec<Glob>,
    pub(crate) excludes: Vec<Glob>,
    pub(crate) includes: Vec<String>,
    pub(crate) defines: BTreeMap<String, String>,
    pub(crate) arguments: Vec<String>,
    /// What is said of single sources besides.
    pub(crate) sources: SourcesSettings,
    /// Rust types of the user's own, by the names of the structs they stand for.
    pub(crate) types: BTreeMap<String, MappedType>,
    /// Who compiles kernels in CUDA C++ for NVIDIA's targets.
    pub(crate) cuda_compiler: CudaCompiler,
    /// The nvcc to use, as written: a path from the package's root, or a name on `PATH`.
    pub(crate) nvcc: Option<String>,
    /// The clang to use, in the same way.
    pub(crate) clang: Option<String>,
    /// A plugin that works on all kernels, which those that nvcc makes escape.
    pub(crate) plugin_on_everything: Option<String>,
    /// Whether a plugin asks launches for state.
    pub(crate) plugins_ask_for_state: bool,
    /// Whether there are kernels in PTX, which ptxas checks where it is there.
    pub(crate) has_ptx: bool,
    /// Files with host code, which become a library.
    pub(crate) host_files: Vec<Glob>,
    /// Whether device code of host files may call into other files.
    pub(crate) rdc: bool,
    /// Libraries of device code: paths from the package's root, or names of the toolkit's.
    pub(crate) device_libraries: Vec<String>,
    /// The most bytes of a thread that a kernel's spills store and load; `None`: any number.
    pub(crate) max_spills: Option<u32>,
    /// What is done about kernels with more.
    pub(crate) excess_spills: ExcessSpills,
    /// The most that a kernel may take of a device, where nothing else is said of it.
    pub(crate) thresholds: Thresholds,
    /// The most registers of a thread, where the environment says it, for one build.
    pub(crate) max_registers: Option<u32>,
    /// The launches that were found to be fastest.
    pub(crate) tuned: Vec<Choice>,
    /// What is said of single kernels, by the names that the settings have for them.
    pub(crate) kernels: BTreeMap<String, KernelSettings>,
    /// The generic kernels that kernels are instances of, by the files and names of these, once the sources are read.
    pub(crate) generics: BTreeMap<(String, String), String>,
    /// The variants that attributes of kernels list, by the file and the symbol of each kernel.
    pub(crate) variants_of_sources: BTreeMap<(String, String), Vec<VariantSettings>>,
    /// Files that stand for stages of kernels, by the names of the kernels, of this package or of others.
    pub(crate) overrides: BTreeMap<String, PathBuf>,
    /// What is written of the way there.
    pub(crate) dumps: Dumps,
    pub(crate) params: Params,
    pub(crate) options: Options,
}

impl Settings {
    /// The arguments for a language's compilers: those that are for all, and its own.
    pub(crate) fn arguments_for(&self, whose: ArgumentsOf) -> Vec<String> {
        self.written_arguments(whose).map(|written| whose.of(written).to_owned()).collect()
    }

    /// The same as they are written, some with the prefix.
    fn written_arguments(&self, whose: ArgumentsOf) -> impl Iterator<Item = &str> {
        self.arguments.iter().map(String::as_str).filter(move |it| whose.is_for(it))
    }

    /// The arguments of the compiler for the source with this path, as they are written: those of all sources, and its own.
    pub(crate) fn written_arguments_of<'s>(
        &'s self,
        path: &str,
        whose: ArgumentsOf,
    ) -> impl Iterator<Item = &'s str> {
        let own = self.sources.arguments_of(path).filter(move |it| whose.is_for(it));
        self.written_arguments(whose).chain(own)
    }

    /// Whether settings under this key are about a kernel.
    pub(crate) fn is_about(&self, key: &str, said: &KernelSettings, kernel: &Signature) -> bool {
        kernel::is_about(key, said, kernel, self.generic_of(kernel))
    }

    /// The name of the generic kernel that a kernel is an instance of.
    pub(crate) fn generic_of(&self, kernel: &Signature) -> Option<&str> {
        let place = (kernel.file.to_string(), kernel.symbol.to_string());
        self.generics.get(&place).map(String::as_str)
    }

    /// The instances that are listed, by the names that the settings have for the kernels.
    pub(crate) fn instances(&self) -> impl Iterator<Item = (&String, &RuleText)> {
        self.kernels.iter().flat_map(|(key, said)| said.instances.iter().map(move |it| (key, it)))
    }

    /// Whether a kernel is to be compiled for a target: what is said of it may narrow its targets.
    pub(crate) fn wants(&self, kernel: &Signature, target: &Target) -> bool {
        let about = self.kernels.iter().filter(|(key, said)| self.is_about(key, said, kernel));
        about.filter_map(|(_, said)| said.targets.as_ref()).all(|list| list.contains(target))
    }

    /// What is said of a kernel. What is said of one instance comes after what is said of all.
    fn said_of(&self, kernel: &Signature) -> Vec<&KernelSettings> {
        let about = self.kernels.iter().filter(|(key, said)| self.is_about(key, said, kernel));
        let mut said: Vec<_> = about.collect();
        let generic = self.generic_of(kernel);
        said.sort_by_key(|(key, _)| {
            !generic.is_some_and(|generic| kernel::is_generic(key, generic, &kernel.file))
                && !kernel::is_of_template(key, kernel)
        });
        said.into_iter().map(|(_, said)| said).collect()
    }

    /// The most that a kernel may take of a device.
    pub(crate) fn thresholds_of(&self, kernel: &Signature) -> Thresholds {
        let said = self.said_of(kernel).into_iter();
        said.fold(self.thresholds, |below, said| said.thresholds.or(below))
    }

    /// Adds what the settings say of launches to kernels; it goes before what their sources say.
    pub(crate) fn limit(&self, kernels: &mut [Signature], report: &mut Report) {
        for kernel in kernels {
            for said in self.said_of(kernel) {
                kernel.limits = said.limits.or(kernel.limits);
                said.check(kernel, report);
            }
            let listed: Vec<_> = self.listed_variants(kernel).collect();
            variants::check(kernel, &self.defines, &listed, report);
        }
    }

    /// Adds what the settings say of launches to a kernel whose source is compiled with the macros of a variant.
    pub(crate) fn limit_defined(&self, kernel: &mut Signature) {
        for said in self.said_of(kernel) {
            kernel.limits = said.limits.or(kernel.limits);
        }
    }

    /// Reports variants with macros of kernels in languages that have none.
    pub(crate) fn check_macros<'k>(
        &self,
        kernels: impl Iterator<Item = &'k Signature>,
        language: &str,
        report: &mut Report,
    ) {
        for kernel in kernels {
            let listed = self.listed_variants(kernel);
            let with_macros = listed.filter(|variant| !variant.parameters.defines.is_empty());
            with_macros.for_each(|it| it.without_macros(kernel, language, report));
        }
    }

    /// The variants that are listed for a kernel: those of its attribute, then those of the settings.
    pub(crate) fn listed_variants(
        &self,
        kernel: &Signature,
    ) -> impl Iterator<Item = &VariantSettings> {
        let place = (kernel.file.to_string(), kernel.symbol.to_string());
        let of_source = self.variants_of_sources.get(&place).into_iter().flatten();
        let about = self.kernels.iter().filter(|(key, said)| self.is_about(key, said, kernel));
        of_source.chain(about.flat_map(|(_, said)| &said.variants))
    }

    /// What each variant of a kernel that is compiled for a target says in place of the kernel.
    pub(crate) fn variants(&self, kernel: &Signature, target: &Target) -> Vec<VariantParameters> {
        let listed = self.listed_variants(kernel).filter(|variant| variant.is_for(target));
        listed.map(|variant| variant.parameters.clone()).collect()
    }

    /// The kernels whose parameters the settings declare, with the names that the settings have for them.
    pub(crate) fn declared(&self) -> Vec<DeclaredKernel> {
        let declared = self.kernels.iter().filter_map(|(key, said)| {
            let parameters = said.parameters.clone()?;
            Some(DeclaredKernel { key: key.clone(), parameters })
        });
        declared.collect()
    }

    /// Reports kernels whose parameters are declared although their sources say them.
    pub(crate) fn check_declared(&self, kernels: &[Signature], report: &mut Report) {
        for kernel in kernels {
            let about = self.kernels.iter().filter(|(key, said)| self.is_about(key, said, kernel));
            let declared = about.filter(|(_, said)| said.parameters.is_some());
            declared.for_each(|(_, said)| said.parameters_not_wanted(kernel, report));
        }
    }

    /// Whether front ends write down variables and types, and not only source lines.
    pub(crate) fn is_fully_debuggable(&self) -> bool {
        self.options.debug_level >= 2
    }

    /// Whether there is a target besides NVIDIA's that is reached through LLVM.
    pub(crate) fn has_others(&self) -> bool {
        let is_other =
            |target: &Target| matches!(target, Target::Cpu | Target::Amd(_) | Target::Spirv64);
        self.targets.iter().any(is_other)
    }

    /// Whether a target is NVIDIA's.
    pub(crate) fn has_nvidia(&self) -> bool {
        self.targets.iter().any(|target| matches!(target, Target::Ptx(_) | Target::Cubin(_)))
    }
}

/// The folder of a build that names no source.
pub(crate) const DEFAULT_FOLDER: &str = "kernels";
