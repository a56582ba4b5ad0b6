//! Layers of settings: what one place sets. A layer lies over the layers of the places before it.

use super::{
    choices::{CudaCompiler, ExcessSpills},
    contract::Origin,
    located::MappedType,
    thresholds::Thresholds,
};
use kernelmill_artifact::LaunchLimits;
use kernelmill_compiler::{MathLibrary, PanicLevel};
use std::collections::BTreeMap;

/// What one place sets. A key that is not set there leaves what the places before it say; a list
/// that is set replaces theirs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layer {
    pub(crate) targets: Option<Vec<TargetName>>,
    pub(crate) source_dirs: Option<Vec<String>>,
    pub(crate) source_files: Option<Vec<String>>,
    pub(crate) source_globs: Option<Vec<String>>,
    pub(crate) excludes: Option<Vec<String>>,
    pub(crate) includes: Option<Vec<String>>,
    pub(crate) defines: Option<BTreeMap<String, String>>,
    pub(crate) arguments: Option<Vec<String>>,
    pub(crate) fma: Option<bool>,
    pub(crate) optimization: Option<u8>,
    pub(crate) panics: Option<PanicLevel>,
    pub(crate) math: Option<MathLibrary>,
    pub(crate) max_spills: Option<u32>,
    pub(crate) excess_spills: Option<ExcessSpills>,
    /// Each is taken by itself.
    pub(crate) thresholds: Thresholds,
    pub(crate) types: Option<BTreeMap<String, MappedType>>,
    pub(crate) cuda_compiler: Option<CudaCompiler>,
    pub(crate) nvcc: Option<String>,
    pub(crate) clang: Option<String>,
    pub(crate) host_files: Option<Vec<String>>,
    pub(crate) rdc: Option<bool>,
    pub(crate) device_libraries: Option<Vec<String>>,
    /// What plugins are told, by their names.
    pub(crate) plugin_meta: Option<BTreeMap<String, String>>,
    /// A plugin that works on all kernels.
    pub(crate) plugin_on_everything: Option<String>,
    /// Whether a plugin asks launches for state.
    pub(crate) plugins_ask_for_state: bool,
    /// Of the compiler, by name; each is taken by itself.
    pub(crate) options: Option<BTreeMap<String, String>>,
    /// By kernel; each key of a kernel is taken by itself.
    pub(crate) kernels: Option<BTreeMap<String, KernelLayer>>,
    /// By patterns of sources; each key of a pattern is taken by itself.
    pub(crate) sources: Option<BTreeMap<String, SourceLayer>>,
}

/// A target, or several, as written, and where: `the builder`, an environment variable.
#[derive(Clone, Debug)]
pub(crate) struct TargetName {
    pub(crate) text: String,
    pub(crate) origin: String,
}

impl Layer {
    /// This layer, and where it sets nothing, the one below.
    pub(crate) fn over(self, below: Self) -> Self {
        Self {
            targets: self.targets.or(below.targets),
            source_dirs: self.source_dirs.or(below.source_dirs),
            source_files: self.source_files.or(below.source_files),
            source_globs: self.source_globs.or(below.source_globs),
            excludes: self.excludes.or(below.excludes),
            includes: self.includes.or(below.includes),
            defines: self.defines.or(below.defines),
            arguments: self.arguments.or(below.arguments),
            fma: self.fma.or(below.fma),
            optimization: self.optimization.or(below.optimization),
            panics: self.panics.or(below.panics),
            math: self.math.or(below.math),
            max_spills: self.max_spills.or(below.max_spills),
            excess_spills: self.excess_spills.or(below.excess_spills),
            thresholds: self.thresholds.or(below.thresholds),
            types: self.types.or(below.types),
            cuda_compiler: self.cuda_compiler.or(below.cuda_compiler),
            nvcc: self.nvcc.or(below.nvcc),
            clang: self.clang.or(below.clang),
            host_files: self.host_files.or(below.host_files),
            rdc: self.rdc.or(below.rdc),
            device_libraries: self.device_libraries.or(below.device_libraries),
            plugin_meta: self.plugin_meta.or(below.plugin_meta),
            plugin_on_everything: self.plugin_on_everything.or(below.plugin_on_everything),
            plugins_ask_for_state: self.plugins_ask_for_state || below.plugins_ask_for_state,
            options: match (self.options, below.options) {
                (Some(above), Some(mut merged)) => {
                    merged.extend(above);
                    Some(merged)
                }
                (above, below) => above.or(below),
            },
            kernels: over(self.kernels, below.kernels, KernelLayer::over),
            sources: over(self.sources, below.sources, SourceLayer::over),
        }
    }
}

/// What is said of each by its name, above and below.
fn over<L: Default>(
    above: Option<BTreeMap<String, L>>,
    below: Option<BTreeMap<String, L>>,
    over: impl Fn(L, L) -> L,
) -> Option<BTreeMap<String, L>> {
    match (above, below) {
        (Some(above), Some(mut merged)) => {
            for (key, layer) in above {
                let known = merged.remove(&key).unwrap_or_default();
                merged.insert(key, over(layer, known));
            }
            Some(merged)
        }
        (above, below) => above.or(below),
    }
}

/// What one place sets for the sources of a pattern.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceLayer {
    pub(crate) defines: Option<BTreeMap<String, String>>,
    pub(crate) arguments: Option<Vec<String>>,
    pub(crate) origin: Option<Origin>,
}

impl SourceLayer {
    fn over(self, below: Self) -> Self {
        Self {
            defines: self.defines.or(below.defines),
            arguments: self.arguments.or(below.arguments),
            origin: self.origin.or(below.origin),
        }
    }
}

/// What one place sets for a kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct KernelLayer {
    pub(crate) requires: Option<Vec<RuleText>>,
    pub(crate) name: Option<String>,
    pub(crate) targets: Option<Vec<TargetName>>,
    /// Its parameters, where its source does not say them.
    pub(crate) parameters: Option<Vec<RuleText>>,
    /// Instances of a generic kernel.
    pub(crate) instances: Option<Vec<RuleText>>,
    /// Its variants.
    pub(crate) variants: Option<Vec<VariantLayer>>,
    /// What is said of its launches.
    pub(crate) limits: LaunchLimits,
    /// The most that it may take of a device.
    pub(crate) thresholds: Thresholds,
    /// Where the kernel is named; `None` in a build script.
    pub(crate) origin: Option<Origin>,
}

/// A rule of a contract, a declared parameter or an instance, as it was written.
#[derive(Clone, Debug)]
pub(crate) struct RuleText {
    pub(crate) text: String,
    pub(crate) origin: Option<Origin>,
}

/// A variant of a kernel, as it was written.
#[derive(Clone, Debug, Default)]
pub(crate) struct VariantLayer {
    /// What is said of its launches, in place of what is said of the kernel's.
    pub(crate) limits: LaunchLimits,
    /// The macros that its source is compiled with besides those of all kernels.
    pub(crate) defines: BTreeMap<String, String>,
    /// Its name, where that is not what it says of itself.
    pub(crate) name: Option<String>,
    pub(crate) targets: Option<Vec<TargetName>>,
    pub(crate) origin: Option<Origin>,
}

impl KernelLayer {
    /// This layer, and where it sets nothing, the one below.
    pub(super) fn over(self, below: Self) -> Self {
        Self {
            requires: self.requires.or(below.requires),
            name: self.name.or(below.name),
            targets: self.targets.or(below.targets),
            parameters: self.parameters.or(below.parameters),
            instances: self.instances.or(below.instances),
            variants: self.variants.or(below.variants),
            limits: self.limits.or(below.limits),
            thresholds: self.thresholds.or(below.thresholds),
            origin: self.origin.or(below.origin),
        }
    }
}
