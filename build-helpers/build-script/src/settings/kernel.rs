//! Settings of single kernels: `[kernels.saxpy]`.

use super::{
    contract::{self, Origin, Rule, RuleError, RuleErrors},
    declared,
    layer::{KernelLayer, RuleText},
    located::report_at,
    thresholds::Thresholds,
    variants::VariantSettings,
};
use crate::base::{naming::is_identifier, report::Report};
use kernelmill_artifact::{LaunchLimits, Parameter, Signature, Target};
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::{
    frontend::cuda::signature::{is_instance_of, is_named},
    limits,
};

/// The keys, as they are written in TOML.
pub(super) const KERNEL_KEYS: [&str; 13] = [
    "requires",
    "name",
    "targets",
    "parameters",
    "instances",
    "variants",
    "launch-bounds",
    "block-size",
    "min-blocks",
    "max-registers",
    "index-width",
    "cluster",
    "thresholds",
];

/// What the configuration says of a kernel, checked as far as that is possible without it.
#[derive(Clone, Debug, Default)]
pub(crate) struct KernelSettings {
    /// The rules of its contract; with none it has no contract.
    pub(crate) requires: Vec<Rule>,
    /// The name of its wrapper.
    pub(crate) name: Option<String>,
    /// The targets it is compiled for; `None`: those of the build.
    pub(crate) targets: Option<Vec<Target>>,
    /// Its parameters, where its source does not say them.
    pub(crate) parameters: Option<Vec<Parameter>>,
    /// Instances of a generic kernel, besides those in its source.
    pub(crate) instances: Vec<RuleText>,
    /// Its variants.
    pub(crate) variants: Vec<VariantSettings>,
    /// What is said of its launches.
    pub(crate) limits: LaunchLimits,
    /// The most that it may take of a device, in place of what holds for all kernels.
    pub(crate) thresholds: Thresholds,
    origin: Option<Origin>,
}

impl KernelSettings {
    /// Reads what is only text so far.
    pub(super) fn of(
        key: &str,
        layer: KernelLayer,
        (targets, variants): (Option<Vec<Target>>, Vec<VariantSettings>),
        report: &mut Report,
    ) -> Self {
        let mut requires = Vec::new();
        for RuleText { text, origin } in layer.requires.unwrap_or_default() {
            match contract::parse(&text) {
                Ok(condition) => requires.push(Rule { text, condition, origin }),
                Err(errors) => report_rule_errors(key, &text, origin.as_ref(), errors, report),
            }
        }
        if let Some(name) = layer.name.as_ref().filter(|name| !is_identifier(name)) {
            let message = format!("the kernel `{key}` cannot be named `{name}`");
            let help = "use letters, digits and underscores, and no digit at the start";
            report_at(Code::KernelSettings, layer.origin.as_ref(), message, help, report);
        }
        let (limits, thresholds, origin) = (layer.limits, layer.thresholds, layer.origin);
        let instances = layer.instances.unwrap_or_default();
        let parameters = layer
            .parameters
            .map(|written| Self::parameters(key, &written, origin.as_ref(), report));
        for fault in limits::check(&limits) {
            // Its threads can be said in the source.
            if fault.name == "min_blocks" && limits.min_blocks <= 32 {
                continue;
            }
            let message = format!(
                "the kernel `{key}` has launch bounds that are not valid, in `{}`: {}",
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
        Self {
            requires,
            name: layer.name,
            targets,
            parameters,
            instances,
            variants,
            limits,
            thresholds,
            origin,
        }
    }

    /// The parameters that are declared; those that are none are reported and left out.
    fn parameters(
        key: &str,
        written: &[RuleText],
        origin: Option<&Origin>,
        report: &mut Report,
    ) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        let of_kernel = |message: String| format!("the kernel `{key}`: {message}");
        for RuleText { text, origin } in written {
            match declared::parameter(text) {
                Ok(parameter) => parameters.push(parameter),
                Err(messages) => {
                    for message in messages {
                        report_at(
                            Code::DeclaredParameters,
                            origin.as_ref(),
                            of_kernel(message),
                            declared::HELP,
                            report,
                        );
                    }
                }
            }
        }
        for message in declared::check_names(&parameters) {
            report_at(
                Code::DeclaredParameters,
                origin,
                of_kernel(message),
                "give them different names",
                report,
            );
        }
        parameters
    }

    /// Reports what is wrong with the name that the settings give.
    pub(crate) fn report_name(&self, code: Code, message: String, help: &str, report: &mut Report) {
        report_at(code, self.origin.as_ref(), message, help, report);
    }

    /// Reports that the parameters of a kernel are declared whose source says them.
    pub(crate) fn parameters_not_wanted(&self, kernel: &Signature, report: &mut Report) {
        let Signature { name, file, line, .. } = kernel;
        let message = format!(
            "the settings declare the parameters of the kernel `{name}`, which its source declares already, at {file}:{line}"
        );
        let help = "remove `parameters`: it is for kernels in LLVM IR and PTX";
        report_at(Code::KernelSettings, self.origin.as_ref(), message, help, report);
    }

    /// Reports instances of a kernel without parameters of its own.
    pub(crate) fn instances_not_wanted(&self, kernel: &Signature, report: &mut Report) {
        let Signature { name, file, line, .. } = kernel;
        let message = format!(
            "the settings list instances of the kernel `{name}`, which is neither a generic kernel in Rust nor a template \
             of CUDA C++ or HIP, at {file}:{line}"
        );
        let origin = self.instances.first().and_then(|it| it.origin.as_ref());
        let origin = origin.or(self.origin.as_ref());
        report_at(Code::KernelSettings, origin, message, "remove `instances`", report);
    }

    /// Reports what is wrong with an instance.
    pub(crate) fn report_instance(
        &self,
        origin: Option<&Origin>,
        message: String,
        help: &str,
        report: &mut Report,
    ) {
        report_at(Code::Instances, origin.or(self.origin.as_ref()), message, help, report);
    }

    /// Reports a target that is named for a kernel and that its language has not got; `targets` are those it has.
    pub(crate) fn target_not_suited(
        &self,
        kernel: &Signature,
        target: &Target,
        (language, targets): (&str, &str),
        report: &mut Report,
    ) {
        let Signature { name, file, line, .. } = kernel;
        let message = format!(
            "the settings name the target `{target}` for the kernel `{name}` at {file}:{line}, and {language} cannot be \
             compiled for it"
        );
        let help = format!("remove the target: {language} is compiled for {targets}");
        report_at(Code::KernelSettings, self.origin.as_ref(), message, &help, report);
    }

    /// Reports what cannot be of a kernel's launches, its source and the settings together.
    pub(super) fn check(&self, kernel: &Signature, report: &mut Report) {
        if self.limits == LaunchLimits::NONE {
            return;
        }
        for fault in limits::check(&kernel.limits) {
            let (name, file, line) = (&kernel.name, &kernel.file, kernel.line);
            let message = format!(
                "the kernel `{name}` has launch bounds that are not valid, by the settings and by {file}:{line} \
                 together: {}",
                fault.message
            );
            report_at(Code::Launches, self.origin.as_ref(), message, fault.help, report);
        }
    }

    /// Reports that what is said of a kernel's launches reaches no compiler.
    pub(crate) fn limits_not_compiled(
        &self,
        kernel: &str,
        (compiler, help): (&str, &str),
        report: &mut Report,
    ) {
        let message = format!(
            "the settings limit the launches of the kernel `{kernel}`, which {compiler} compiles without reading these \
             limits"
        );
        report_at(Code::KernelSettings, self.origin.as_ref(), message, help, report);
    }

    /// Reports that there is no such kernel, but a template of this name that nothing instantiates.
    pub(crate) fn without_instances(&self, key: &str, file: &str, report: &mut Report) {
        let help = "list its instances here, for example `instances = [\"float, 16\"]`, or instantiate it in the source";
        let message = format!(
            "the settings name the kernel `{key}`, a template in `{file}` that has no instances"
        );
        report_at(Code::UnknownKernel, self.origin.as_ref(), message, help, report);
    }

    /// Reports that there is no such kernel. One of a similar name may be meant, where the package has any.
    pub(crate) fn unknown(
        &self,
        key: &str,
        (nearest, has_kernels): (Option<&str>, bool),
        report: &mut Report,
    ) {
        let help = match nearest {
            Some(nearest) => {
                format!("the nearest is `{nearest}`; where the kernel is gone, remove the table")
            }
            None if has_kernels => {
                "remove the table, or write the name of a kernel, which `cargo kernelmill list` prints".to_owned()
            }
            None => "remove the table: the package has no kernels".to_owned(),
        };
        let message = format!("the settings name a kernel `{key}`, which no source has");
        report_at(Code::UnknownKernel, self.origin.as_ref(), message, &help, report);
    }
}

/// Whether settings under this key are about a kernel: the key is the name of its wrapper, that of the generic
/// kernel or template that it is an instance of, its name in C++ with or without parameters, its symbol, or its file and one of
/// these names.
pub(crate) fn is_about(
    key: &str,
    settings: &KernelSettings,
    kernel: &Signature,
    generic: Option<&str>,
) -> bool {
    key == kernel.name
        || generic.is_some_and(|generic| is_generic(key, generic, &kernel.file))
        || key.split_once("::") == Some((&kernel.file, &kernel.symbol))
        || settings.name.as_deref() == Some(kernel.name())
        || is_named(&kernel.symbol, key)
        || is_of_template(key, kernel)
}

/// Whether settings under this key are about the template of C++ that a kernel is an instance of: the key is the
/// template's name, with or without its namespaces, or its file and that.
pub(crate) fn is_of_template(key: &str, kernel: &Signature) -> bool {
    let in_file = key.split_once("::").filter(|(file, _)| *file == kernel.file);
    is_instance_of(&kernel.symbol, key)
        || in_file.is_some_and(|(_, name)| is_instance_of(&kernel.symbol, name))
}

/// Whether settings under this key are about a generic kernel.
pub(crate) fn is_generic(key: &str, generic: &str, file: &str) -> bool {
    key == generic || key.split_once("::") == Some((file, generic))
}

/// Reports everything that is wrong with a rule of a contract, and where.
pub(crate) fn report_rule_errors(
    kernel: &str,
    rule: &str,
    origin: Option<&Origin>,
    errors: RuleErrors,
    report: &mut Report,
) {
    for error in errors {
        report_rule_error(kernel, rule, origin, error, report);
    }
}

fn report_rule_error(
    kernel: &str,
    rule: &str,
    origin: Option<&Origin>,
    error: RuleError,
    report: &mut Report,
) {
    let RuleError { message, span, help } = error;
    let message = format!("the contract `{rule}` of the kernel `{kernel}`: {message}");
    let Some(Origin { place, file }) = origin else {
        let column = rule.get(..span.start).map_or(0, |before| before.chars().count()) + 1;
        return report.plain(Code::Contract, format!("{message}, at character {column}"), help);
    };
    // The rule as it is, unless it is written with escapes: then all of it is the place.
    let start = place.span.start;
    let is_verbatim = file.get(start..).is_some_and(|rest| rest.starts_with(rule));
    let span = if is_verbatim { start + span.start..start + span.end } else { place.span.clone() };
    let origin =
        Origin { place: crate::base::report::place(&place.file, file, span), file: file.clone() };
    report_at(Code::Contract, Some(&origin), message, &help, report);
}
