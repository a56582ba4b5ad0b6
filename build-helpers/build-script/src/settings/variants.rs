//! Variants of kernels, as settings list them: builds for some of a kernel's launches.

use super::{contract::Origin, layer::VariantLayer, located::report_at};
use crate::base::report::Report;
use kernelmill_artifact::{KernelVariant, LaunchLimits, Signature, Target};
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::limits;

/// The keys of a variant, as they are written in TOML.
pub(super) const VARIANT_KEYS: [&str; 4] =
    ["launch-bounds", "max-registers", "index-width", "targets"];

/// A variant that the settings list, checked as far as that is possible without its kernel.
#[derive(Clone, Debug)]
pub(crate) struct VariantSettings {
    /// What is said of its launches, in place of what is said of the kernel's.
    pub(crate) limits: LaunchLimits,
    /// The targets it is compiled for; `None`: those of its kernel.
    targets: Option<Vec<Target>>,
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
        let VariantLayer { limits, origin, .. } = layer;
        if limits == LaunchLimits::NONE {
            let message = format!("a variant of the kernel `{key}` says nothing of its launches");
            let help = "write `launch-bounds`, `max-registers` or `index-width`, or remove it";
            report_at(Code::Variants, origin.as_ref(), message, help, report);
        }
        for fault in limits::check(&limits) {
            let message = format!(
                "a variant of the kernel `{key}` has launches that cannot be, in `{}`: {}",
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
        Self { limits, targets, origin }
    }

    /// Whether it is compiled for a target that its kernel is compiled for.
    pub(super) fn is_for(&self, target: &Target) -> bool {
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
            "the settings list variants of the kernel `{kernel}`, which {compiler} compiles"
        );
        let help = "remove them: kernelmill's own compiler makes variants";
        report_at(Code::KernelSettings, self.origin.as_ref(), message, help, report);
    }
}

/// Reports variants of a kernel that cannot be, or that are one of the others or the kernel itself.
pub(super) fn check(kernel: &Signature, all: &[&VariantSettings], report: &mut Report) {
    let Signature { name, file, line, .. } = kernel;
    let own = KernelVariant::new(LaunchLimits::NONE, kernel.limits);
    for (place, variant) in all.iter().enumerate() {
        let built = KernelVariant::new(variant.limits, kernel.limits);
        let others = all[..place].iter().filter(|other| other.meets(variant));
        let mut others = others.map(|other| KernelVariant::new(other.limits, kernel.limits));
        let is_same = if built == own {
            Some("the kernel itself".to_owned())
        } else {
            others
                .find(|other| *other == built)
                .map(|other| format!("its variant `{}`", other.name))
        };
        if let Some(same) = is_same {
            let message = format!(
                "the variant `{}` of the kernel `{name}` at {file}:{line} has the code of {same}",
                built.name
            );
            let help = "remove it, or give it another number: a thread has 255 registers and indices have 64 bits \
                        where nothing else is said";
            report_at(Code::Variants, variant.origin.as_ref(), message, help, report);
        }
        // What is wrong with the variant or the kernel alone is said there.
        if !limits::check(&variant.limits).is_empty() || !limits::check(&kernel.limits).is_empty() {
            continue;
        }
        for fault in limits::check(&built.limits) {
            let message = format!(
                "the variant `{}` of the kernel `{name}` has launches that cannot be, with those at {file}:{line}: {}",
                built.name, fault.message
            );
            report_at(
                Code::Launches,
                variant.origin.as_ref(),
                message,
                &fault.help.replace('_', "-"),
                report,
            );
        }
    }
}
