//! A kernel source: one file, or one package of kernels.

use super::{language::Language, override_file::KernelOverride, template::Template};
use crate::settings::{choices::ArgumentsOf, resolved::Settings};
use kernelmill_artifact::{DeviceFunction, Parameter, Signature, Target, VariableDeclaration};
use kernelmill_compiler::{
    Mirror,
    diagnostic::Diagnostic,
    frontend::{generic::GenericKernel, rust::signature::ListedVariant},
};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

/// A source with at least one kernel, or one that only its compiler can say something about.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The file, or the package's folder; absolute.
    pub(crate) path: PathBuf,
    /// The path relative to the package, as messages and keys have it.
    pub(crate) display: String,
    pub(crate) kind: SourceKind,
    /// Its kernels; `None` where the text is not Rust, which rustc will say better, and for C and
    /// C++ until it has been compiled.
    pub(crate) signatures: Option<Vec<Signature>>,
    /// The functions that kernels can be given; those of CUDA C++ once it has been compiled.
    pub(crate) functions: Vec<DeviceFunction>,
    /// The variables that the host reads and writes, of CUDA C++ and HIP.
    pub(crate) variables: Vec<VariableDeclaration>,
    /// The generic kernels of which some of the kernels are instances.
    pub(crate) generics: Vec<GenericKernel>,
    /// The instances that the settings list of those, and of templates of C++, each with the name of its kernel.
    pub(crate) instances: Vec<(String, String)>,
    /// The templates of C++ of which the settings list instances.
    pub(crate) templates: Vec<Template>,
    /// How long compiling it takes next to others, where that is known.
    pub(crate) weight: u64,
    /// The text of its files, by how messages name them.
    pub(crate) texts: Vec<(String, Arc<str>)>,
    /// Files that stand for stages of its kernels.
    pub(crate) overrides: Vec<KernelOverride>,
    /// The launch state of its kernels that have some, by their symbols.
    pub(crate) states: Vec<(String, Vec<Parameter>)>,
    /// Of a module of the crate's own source, how it is compiled.
    pub(crate) module: Option<ModuleOfCrate>,
    /// The variants of kernels that attributes list.
    pub(crate) variants: Vec<ListedVariant>,
    /// What its kernels probably do not mean, for the build to warn of.
    pub(crate) warnings: Vec<Diagnostic>,
    /// The macros that it is compiled with besides those of all sources.
    pub(crate) defines: BTreeMap<String, String>,
    /// The source compiled with the macros of variants: each with its macros, and with the kernels that have such a
    /// variant, whose limits are those in this source.
    pub(crate) defined: Vec<Self>,
}

/// A module of kernels in the crate's own source.
#[derive(Clone, Debug)]
pub(crate) struct ModuleOfCrate {
    /// The crate as devices have it, with this module alone.
    pub(crate) mirror: Mirror,
    /// Its types that the rest of the crate can name, by their names: `Params` is `crate::blur::Params`.
    pub(crate) types: BTreeMap<String, String>,
}

/// How a source is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceKind {
    /// By rustc, in place.
    File,
    /// By cargo.
    Package,
    /// CUDA C++, by nvcc or clang.
    Cuda,
    /// HIP, by clang.
    Hip,
    /// OpenCL C, by clang.
    OpenCl,
    /// LLVM IR, by whatever wrote it.
    LlvmIr,
    /// PTX, which ptxas assembles.
    Ptx,
    /// WGSL, by naga.
    Wgsl,
}

impl SourceKind {
    /// Every kind.
    pub(crate) const ALL: [Self; 8] = [
        Self::File,
        Self::Package,
        Self::Cuda,
        Self::Hip,
        Self::OpenCl,
        Self::LlvmIr,
        Self::Ptx,
        Self::Wgsl,
    ];

    /// The language.
    pub(crate) fn language(self) -> &'static str {
        let language = match self {
            Self::File | Self::Package => Language::Rust,
            Self::Cuda => Language::Cuda,
            Self::Hip => Language::Hip,
            Self::OpenCl => Language::OpenCl,
            Self::LlvmIr => Language::LlvmIr,
            Self::Ptx => Language::Ptx,
            Self::Wgsl => Language::Wgsl,
        };
        language.name()
    }

    /// The languages that can be compiled for a target.
    pub(crate) fn languages_for(target: &Target) -> Vec<&'static str> {
        let mut found = Vec::new();
        for kind in Self::ALL.into_iter().filter(|kind| kind.suits(target)) {
            if !found.contains(&kind.language()) {
                found.push(kind.language());
            }
        }
        found
    }

    /// Whether it can be compiled for a target.
    pub(crate) fn suits(self, target: &Target) -> bool {
        match target {
            Target::Ptx(_) | Target::Cubin(_) => self != Self::Wgsl,
            Target::Bitcode(_) | Target::CpuBitcode => matches!(self, Self::File | Self::Package),
            Target::Cpu | Target::Amd(_) | Target::Spirv64 => {
                !matches!(self, Self::Ptx | Self::Wgsl)
            }
            Target::OpenClC => self == Self::OpenCl,
            Target::Vulkan => self != Self::Ptx,
            _ => false,
        }
    }

    /// The targets that suit it, for messages.
    pub(crate) fn targets(self) -> &'static str {
        match self {
            Self::OpenCl => {
                "`cpu`, `compute_XX`, `sm_XX`, `gfxXXX`, `spirv64`, `vulkan` and `opencl-c`"
            }
            Self::File | Self::Package => {
                "`cpu`, `compute_XX`, `sm_XX`, `bitcode_XX`, `bitcode_cpu`, `gfxXXX`, `spirv64` and `vulkan`"
            }
            Self::Cuda | Self::Hip | Self::LlvmIr => {
                "`cpu`, `compute_XX`, `sm_XX`, `gfxXXX`, `spirv64` and `vulkan`"
            }
            Self::Ptx => "`compute_XX` and `sm_XX`",
            Self::Wgsl => "`vulkan`",
        }
    }

    /// Which arguments of the settings its compiler is given.
    pub(crate) fn arguments(self) -> Option<ArgumentsOf> {
        match self {
            Self::File => Some(ArgumentsOf::Rustc),
            Self::Cuda | Self::Hip => Some(ArgumentsOf::Cuda),
            Self::OpenCl => Some(ArgumentsOf::OpenCl),
            Self::Package | Self::LlvmIr | Self::Ptx | Self::Wgsl => None,
        }
    }

    /// Whether its kernels are known once a compiler has read it, and not from its text.
    pub(crate) fn is_read_by_compiler(self) -> bool {
        !matches!(self, Self::File | Self::Package)
    }

    /// Whether clang may compile it.
    pub(crate) fn is_for_clang(self) -> bool {
        matches!(self, Self::Cuda | Self::Hip | Self::OpenCl)
    }

    /// Whether the settings may declare the parameters of its kernels.
    pub(crate) fn may_be_declared(self) -> bool {
        matches!(self, Self::LlvmIr | Self::Ptx)
    }

    /// The language, or the program, in messages of its compiler.
    pub(crate) fn compiler_name(self) -> &'static str {
        match self {
            Self::File | Self::Package => "rustc",
            Self::Cuda | Self::Hip | Self::OpenCl => "clang",
            Self::LlvmIr => "LLVM",
            Self::Ptx => "ptxas",
            Self::Wgsl => "naga",
        }
    }
}

impl Source {
    /// The kernels that could be read.
    pub(crate) fn kernels(&self) -> &[Signature] {
        self.signatures.as_deref().unwrap_or_default()
    }

    /// A kernel with its launch state, which has the symbol of one of those that could be read.
    pub(crate) fn with_state(&self, kernel: &Signature, symbol: &str) -> Signature {
        let mut kernel = kernel.clone();
        if let Some((_, states)) = self.states.iter().find(|(known, _)| known == symbol) {
            kernel.parameters.to_mut().extend(states.iter().cloned());
        }
        kernel
    }

    /// The source that is compiled with the macros of a variant; itself where there are none.
    pub(crate) fn with_defines(&self, defines: Option<&BTreeMap<String, String>>) -> &Self {
        let found = defines.and_then(|wanted| self.defined.iter().find(|it| it.defines == *wanted));
        found.unwrap_or(self)
    }

    /// The macros of a compilation: those of all sources, those that the settings have for its path in their place, and
    /// those of the variant in theirs.
    pub(crate) fn all_defines(&self, settings: &Settings) -> BTreeMap<String, String> {
        let mut defines = settings.defines.clone();
        let own =
            self.path_of_settings().into_iter().flat_map(|it| settings.sources.defines_of(it));
        defines.extend(own.map(|(name, value)| (name.clone(), value.clone())));
        defines.extend(self.defines.clone());
        defines
    }

    /// The arguments of its compiler.
    pub(crate) fn arguments(&self, settings: &Settings) -> Vec<String> {
        let whose = self.kind.arguments();
        let written = self.written_arguments(settings);
        written.into_iter().filter_map(|it| Some(whose?.of(it).to_owned())).collect()
    }

    /// The same as they are written, some with a prefix.
    pub(crate) fn written_arguments<'s>(&self, settings: &'s Settings) -> Vec<&'s str> {
        let Some(whose) = self.kind.arguments() else { return Vec::new() };
        settings.written_arguments_of(self.path_of_settings().unwrap_or_default(), whose).collect()
    }

    /// The path by which the settings may have something to say of it alone.
    pub(crate) fn path_of_settings(&self) -> Option<&str> {
        let is_file = self.module.is_none() && self.kind != SourceKind::Package;
        is_file.then_some(&*self.display)
    }

    /// Whether there is a kernel, as far as is known.
    pub(crate) fn is_any(&self) -> bool {
        self.signatures.as_ref().is_none_or(|signatures| !signatures.is_empty())
    }

    /// Whether it has no kernel, and is there for the functions it has for other sources.
    pub(crate) fn is_for_others(&self) -> bool {
        self.signatures.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether it has functions for kernels and no kernel, and its compiler has not to say so.
    pub(crate) fn has_functions(&self) -> bool {
        let is_known = !self.kind.is_read_by_compiler() || !self.functions.is_empty();
        self.is_for_others() && is_known
    }

    /// Whether a kernel is to be compiled for a target. The text of a file in PTX is embedded once, for the target that
    /// it is for itself, whichever targets of that kind there are.
    pub(crate) fn wants(&self, kernel: &Signature, target: &Target, settings: &Settings) -> bool {
        let is_ptx = |target: &Target| matches!(target, Target::Ptx(_));
        if self.kind == SourceKind::Ptx && is_ptx(target) {
            let mut all = settings.targets.iter().filter(|target| is_ptx(target));
            return all.any(|target| settings.wants(kernel, target));
        }
        settings.wants(kernel, target)
    }

    /// The text of its one file.
    pub(crate) fn text(&self) -> &str {
        self.texts.first().map_or("", |(_, text)| text)
    }

    /// Whether there is something to compile for a target, as far as is known.
    pub(crate) fn is_for(&self, target: &Target, settings: &Settings) -> bool {
        let wanted = |signatures: &Vec<Signature>| {
            signatures.iter().any(|signature| self.wants(signature, target, settings))
        };
        self.signatures.as_ref().is_none_or(wanted)
    }
}
