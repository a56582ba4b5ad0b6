//! Variants of kernels, as settings list them: builds for some of a kernel's launches.

use super::{checks, contract::Origin, layer::VariantLayer, located::report_at};
use crate::base::{naming::is_identifier, report::Report};
use kernelmill_artifact::{KernelVariant, LaunchLimits, Signature, Target};
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::{frontend::rust::signature::ListedVariant, limits};
use std::{collections::BTreeMap, sync::Arc};

/// The keys of a variant, as they are written in TOML.
pub(super) const VARIANT_KEYS: [&str; 8] = [
    "name",
    "launch-bounds",
    "block-size",
    "min-blocks",
    "max-registers",
    "index-width",
    "define",
    "targets",
];

/// What a variant says in place of its kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VariantParameters {
    /// Its name, where that is not what the rest says.
    pub(crate) name: Option<String>,
    /// What is said of its launches, in place of what is said of the kernel's.
    pub(crate) limits: LaunchLimits,
    /// The macros that its source is compiled with besides those of all kernels.
    pub(crate) defines: BTreeMap<String, String>,
}

impl VariantParameters {
    /// The variant of a kernel whose launches have these limits where it is compiled with the variant's macros.
    pub(crate) fn of_kernel(&self, limits: LaunchLimits) -> KernelVariant {
        let defines = self.defines.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let variant = KernelVariant::new(self.limits, limits).with_defines(defines);
        match self.name.clone() {
            Some(name) => KernelVariant { name: name.into(), ..variant },
            None => variant,
        }
    }

    /// Its name.
    pub(crate) fn label(&self) -> String {
        self.of_kernel(LaunchLimits::NONE).name.into_owned()
    }

    /// What of it changes the code for a target; nothing where it has the code of its kernel.
    pub(crate) fn code_for(&self, target: &Target) -> Option<Self> {
        let limits = match target {
            Target::Ptx(_) | Target::Cubin(_) | Target::Amd(_) => return Some(self.clone()),
            Target::Cpu => LaunchLimits { block: self.limits.block, ..LaunchLimits::NONE },
            _ => LaunchLimits::NONE,
        };
        let has_own = limits != LaunchLimits::NONE || !self.defines.is_empty();
        has_own.then(|| Self { name: None, limits, defines: self.defines.clone() })
    }
}

/// A variant that the settings list, checked as far as that is possible without its kernel.
#[derive(Clone, Debug)]
pub(crate) struct VariantSettings {
    pub(crate) parameters: VariantParameters,
    /// The targets it is compiled for; `None`: those of its kernel.
    targets: Option<Vec<Target>>,
    /// Whether the attribute of its kernel lists it, whose keys are written with underscores.
    is_of_source: bool,
    origin: Option<Origin>,
}

impl VariantSettings {
    /// Reads what is only text so far.
    pub(super) fn of(
        key: &str,
        layer: VariantLayer,
        targets: Option<Vec<Target>>,
        report: &mut Report,
    ) -> Self {
        let VariantLayer { limits, defines, name, origin, .. } = layer;
        if limits == LaunchLimits::NONE && defines.is_empty() {
            let message = format!("a variant of the kernel `{key}` sets nothing");
            let help = "write `launch-bounds`, `block-size`, `min-blocks`, `max-registers`, `index-width` or `define`, or remove the \
                        variant";
            report_at(Code::Variants, origin.as_ref(), message, help, report);
        }
        if let Some(name) = name.as_ref().filter(|name| !is_identifier(name)) {
            let message = format!("a variant of the kernel `{key}` cannot be named `{name}`");
            let help = "use letters, digits and underscores, and no digit at the start";
            report_at(Code::Variants, origin.as_ref(), message, help, report);
        }
        for fault in defines.keys().filter_map(|name| checks::definition(name).err()) {
            report_at(fault.code, origin.as_ref(), fault.message, &fault.help, report);
        }
        for fault in limits::check_variant(&limits) {
            let message = format!(
                "a variant of the kernel `{key}` has launch bounds that are not valid, in `{}`: {}",
                fault.name.replace('_', "-"),
                fault.message
            );
            report_at(
                Code::Launches,
                origin.as_ref(),
                message,
                &fault.help.replace('_', "-"),
                report,
            );
        }
        let parameters = VariantParameters { name, limits, defines };
        Self { parameters, targets, is_of_source: false, origin }
    }

    /// A variant that the attribute of a kernel lists in a file with this text. The front end has checked it.
    pub(crate) fn of_source(listed: &ListedVariant, file: Arc<str>) -> Self {
        let parameters =
            VariantParameters { name: None, limits: listed.limits, defines: BTreeMap::new() };
        let origin = Some(Origin { place: listed.place.clone(), file });
        Self { parameters, targets: None, is_of_source: true, origin }
    }

    /// Whether it is compiled for a target that its kernel is compiled for.
    pub(crate) fn is_for(&self, target: &Target) -> bool {
        self.targets.as_ref().is_none_or(|targets| targets.contains(target))
    }

    /// Whether a target has both this variant and another.
    fn meets(&self, other: &Self) -> bool {
        match (&self.targets, &other.targets) {
            (Some(own), Some(others)) => own.iter().any(|target| others.contains(target)),
            _ => true,
        }
    }

    /// Reports that it reaches no compiler.
    pub(crate) fn not_compiled(&self, kernel: &str, compiler: &str, report: &mut Report) {
        let message = format!(
            "the settings list variants of the kernel `{kernel}`, and {compiler}, which compiles it, makes no variants"
        );
        let help = "remove the variant";
        report_at(Code::KernelSettings, self.origin.as_ref(), message, help, report);
    }

    /// Reports that it has indices of 32 bits, and the source that nvcc compiles no type for them.
    pub(crate) fn without_index_type(&self, kernel: &Signature, report: &mut Report) {
        let Signature { name, file, line, .. } = kernel;
        let message = format!(
            "the variant `{}` of the kernel `{name}` at {file}:{line} has `index-width = 32`, and its source never reads \
             KERNELMILL_INDEX_WIDTH: nvcc, which compiles it, would make the same code",
            self.parameters.label()
        );
        let help = "choose the type of indices in the source, `#if KERNELMILL_INDEX_WIDTH == 32` `typedef unsigned index_t;` \
                    `#else` `typedef size_t index_t;` `#endif`; or remove `index-width` from the variant, or write \
                    `cuda-compiler = \"clang\"`, with which indices are narrowed without that";
        report_at(Code::Variants, self.origin.as_ref(), message, help, report);
    }

    /// Reports macros for a language that has none.
    pub(crate) fn without_macros(&self, kernel: &Signature, language: &str, report: &mut Report) {
        let Signature { name, file, line, .. } = kernel;
        let message = format!(
            "the variant `{}` of the kernel `{name}` at {file}:{line} has `define`, and the kernel is {language}",
            self.parameters.label()
        );
        let help = "remove `define`: it is for CUDA C++, HIP and OpenCL C; a kernel in Rust can have a constant parameter \
                    and `instances`";
        report_at(Code::Variants, self.origin.as_ref(), message, help, report);
    }

    /// Reports what is wrong with the kernel where it is compiled with the macros.
    pub(crate) fn report_kernel(&self, kernel: &Signature, what: &str, report: &mut Report) {
        let Signature { name, file, line, .. } = kernel;
        let message = format!(
            "the variant `{}` of the kernel `{name}` at {file}:{line} {what}",
            self.parameters.label()
        );
        let help = "variants share the wrapper of their kernel: macros may change its body and the limits of its launches, not \
                    its name or parameters";
        report_at(Code::Variants, self.origin.as_ref(), message, help, report);
    }
}

/// Reports variants of a kernel that cannot be, or that are one of the others or the kernel itself. `defines` are the
/// macros of all kernels.
pub(super) fn check(
    kernel: &Signature,
    defines: &BTreeMap<String, String>,
    all: &[&VariantSettings],
    report: &mut Report,
) {
    let Signature { name, file, line, .. } = kernel;
    // What macros make of the kernel's own limits is known once it is compiled with them.
    let built = |parameters: &VariantParameters| {
        let mut parameters = parameters.clone();
        parameters.defines.retain(|name, value| defines.get(name) != Some(value));
        let is_defined = !parameters.defines.is_empty();
        let limits = if is_defined { LaunchLimits::NONE } else { kernel.limits };
        parameters.of_kernel(limits)
    };
    let own = KernelVariant::new(LaunchLimits::NONE, kernel.limits);
    for (place, variant) in all.iter().enumerate() {
        let label = variant.parameters.label();
        let code = built(&variant.parameters);
        let mut others = all[..place].iter().filter(|other| other.meets(variant));
        let is_same = if code == own {
            Some("the kernel itself".to_owned())
        } else {
            let same = others.clone().find(|other| built(&other.parameters) == code);
            same.map(|other| format!("its variant `{}`", other.parameters.label()))
        };
        if let Some(same) = is_same {
            let message = format!(
                "the variant `{label}` of the kernel `{name}` at {file}:{line} has the same code as {same}"
            );
            let help = "remove it, or change its numbers: without a setting a thread has 255 registers and indices have \
                        64 bits";
            report_at(Code::Variants, variant.origin.as_ref(), message, help, report);
        } else if others.any(|other| other.parameters.label() == label) {
            let message = format!(
                "the kernel `{name}` at {file}:{line} has two variants of the name `{label}`"
            );
            let help = "give one of them a `name`: launches ask for variants by their names";
            report_at(Code::Variants, variant.origin.as_ref(), message, help, report);
        }
        if variant.parameters.defines.is_empty() {
            check_limits(kernel, variant, report);
        }
    }
}

/// Reports launches of a variant that cannot be, its kernel's limits among them.
pub(crate) fn check_limits(kernel: &Signature, variant: &VariantSettings, report: &mut Report) {
    let Signature { name, file, line, .. } = kernel;
    let built = variant.parameters.of_kernel(kernel.limits);
    // What is wrong with the variant or the kernel alone is said there.
    let said = &variant.parameters.limits;
    if !limits::check_variant(said).is_empty() || !limits::check(&kernel.limits).is_empty() {
        return;
    }
    for fault in limits::check(&built.limits) {
        let message = format!(
            "the variant `{}` of the kernel `{name}` has launch bounds that are not valid, with those at {file}:{line}: {}",
            built.name, fault.message
        );
        let help = match variant.is_of_source {
            true => fault.help.to_owned(),
            false => fault.help.replace('_', "-"),
        };
        report_at(Code::Launches, variant.origin.as_ref(), message, &help, report);
    }
}
