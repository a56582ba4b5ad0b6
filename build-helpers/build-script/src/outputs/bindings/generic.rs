//! Wrappers of generic kernels: a trait that `Kernels` implements for each instance that is built, and generic
//! methods over it.

use super::{
    comments::{LINKS, commented},
    methods::parameters_with,
    model::{Generic, Interface, Kernel, Marker},
    names::{identifier, parameter_names},
    types::{import_plain, type_name},
};
use crate::base::naming::is_identifier;
use kernelmill_artifact::{ParameterKind, Safety, Signature, ValueType};
use kernelmill_compiler::frontend::generic::{Form, GenericArgument, Length};

/// The lints that the names of the kernels' own parameters need not keep to.
const NAMES: &str = "#[allow(
    dead_code,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unreachable_pub,
    reason = \"named as in the kernels, and used or not\"
)]";

/// A type that is a name for instances.
pub(super) fn marker(marker: &Marker) -> String {
    let plain = &marker.name;
    if let Some(path) = &marker.mapped_to {
        return import_plain(path, plain);
    }
    format!(
        "
/// `{plain}` of the kernels: a name for instances of generic kernels.
#[derive(Clone, Copy, Debug)]
{NAMES}
pub struct {name};
",
        name = identifier(plain),
    )
}

/// The private module with what keeps others from implementing the traits, if there are any.
pub(super) fn seals(interface: &Interface) -> String {
    let seal = |generic: &Generic| {
        let (name, declared) = (&generic.trait_name, declared(generic));
        format!("    {}\n    pub trait {name}<{declared}> {{}}\n", indented(NAMES))
    };
    let seals: Vec<String> = interface.generics.iter().map(seal).collect();
    if seals.is_empty() {
        return String::new();
    }
    format!("\nmod sealed_instances {{\n{}}}\n", seals.join("\n"))
}

/// The parts of the wrappers of one generic kernel.
pub(super) struct Wrapper<'a> {
    interface: &'a Interface,
    generic: &'a Generic,
    /// The signature of the first instance, which has what is the same in all.
    first: &'a Signature,
    /// The names of the parameters.
    names: Vec<String>,
    /// The kernel's own parameters as they are declared, `T, const TILE: usize`, and as they are used.
    declared: String,
    used: String,
    is_unsafe: bool,
}

impl<'a> Wrapper<'a> {
    pub(super) fn new(interface: &'a Interface, generic: &'a Generic) -> Option<Self> {
        let kernel = |index: &usize| interface.kernels.get(*index);
        let kernels = || generic.instances.iter().filter_map(|(_, index)| kernel(index));
        let first = &kernels().next()?.signature;
        let is_unsafe = |kernel: &Kernel| kernel.signature.safety == Safety::Unsafe;
        Some(Self {
            interface,
            generic,
            first,
            names: parameter_names(first.parameters()),
            declared: declared(generic),
            used: generic.names.join(", "),
            is_unsafe: kernels().any(is_unsafe),
        })
    }

    /// The trait of the kernel, and that `Kernels` has it for each instance.
    pub(super) fn instances(&self) -> String {
        let Generic { trait_name, kernel, name: link, .. } = self.generic;
        let (plain, file, line) = (&kernel.name, &kernel.file, kernel.line);
        let (declared, used) = (&self.declared, &self.used);
        let shown: Vec<_> = self.generic.names.iter().map(|name| format!("{{{name}}}")).collect();
        let shown = shown.join(", ");
        let place = match &self.generic.key {
            Some(key) if is_identifier(key) => {
                format!("`instances` in `[kernels.{key}]` of the settings")
            }
            Some(key) => {
                format!("`instances` in `[kernels.\\\"{key}\\\"]` of the settings")
            }
            None => format!(
                "the instances, in `#[kernel(instances = [..])]` at {file}:{line} or by \\
            `instances` in `[kernels.{plain}]` of the settings"
            ),
        };
        let mut text = format!(
            "
/// The kernel `{plain}` of `{file}:{line}` has this instance: `Kernels` implements it for those that are built.
#[diagnostic::on_unimplemented(
    message = \"the kernel `{plain}` has no instance `{shown}`\",
    label = \"this instance is not built\",
    note = \"add `\\\"{shown}\\\"` to {place}\"
)]
{NAMES}
pub trait {trait_name}<{declared}>: sealed_instances::{trait_name}<{used}> {{
    /// The place of the instance's signature in [`Kernels::signatures`].
    const SIGNATURE: usize;

{types}    /// As [`Kernels::{link}`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::{link}`].
{section}{allowed}{head}{limits};
}}
",
            types = self.associated_types(),
            section = self.safety_section(),
            allowed = allowed_in_trait(),
            head = self.head("launch", self.first, &|index, ty| self.written("Self", index, ty)),
            limits = self.limits("", "    ").trim_end_matches(','),
        );
        text.extend(self.generic.instances.iter().map(|(arguments, index)| {
            self.instance(arguments, *index, &self.interface.kernels[*index].signature)
        }));
        text
    }

    /// That `Kernels` has the trait for one instance.
    fn instance(&self, arguments: &[GenericArgument], index: usize, own: &Signature) -> String {
        let trait_name = &self.generic.trait_name;
        let arguments = self.arguments(arguments);
        let types: String = self
            .per_instance()
            .map(|index| {
                let ty = type_name(own.parameters[index].kind.crossing());
                format!("    type Argument{index} = {ty};\n")
            })
            .collect();
        let call = format!("self.{}(__stream, __launch{})", identifier(&own.name), self.passed());
        let call = match own.safety {
            Safety::Safe => call,
            Safety::Unsafe => in_unsafe("it is this kernel that the caller answers for.", &call),
        };
        format!(
            "
impl sealed_instances::{trait_name}<{arguments}> for Kernels {{}}

#[allow(clippy::unreadable_literal, reason = \"constants are written as one number\")]
impl {trait_name}<{arguments}> for Kernels {{
    const SIGNATURE: usize = {index};
{types}
{allowed}{head} {{
        {call}
    }}
}}
",
            allowed = allowed_in_trait(),
            head = self.head("launch", own, &|_, ty| type_name(ty)),
        )
    }

    /// The generic wrapper.
    pub(super) fn method(&self) -> String {
        let Generic { trait_name, kernel, .. } = self.generic;
        let used = &self.used;
        let owner = format!("<Self as {trait_name}<{used}>>");
        let call = format!("{owner}::launch(self, __stream, __launch{})", self.passed());
        let call = match self.is_unsafe {
            false => call,
            true => in_unsafe("the caller answers for it.", &call),
        };
        let name = format!("{}<{}>", identifier(&self.generic.name), self.declared);
        let head = self.head(&name, self.first, &|index, ty| self.written(&owner, index, ty));
        let listed: String = self
            .generic
            .instances
            .iter()
            .map(|(arguments, index)| {
                let name = &self.interface.kernels[*index].signature.name;
                format!("    /// - `{}`, [`Kernels::{name}`]\n", self.arguments(arguments))
            })
            .collect();
        let comment = self.comment();
        format!(
            "
{comment}    /// Launches an instance of the kernel `{plain}` of `{file}:{line}`:
    ///
{listed}    ///
    /// # Errors
    ///
    /// As the wrappers of these instances.
{section}    {allowed}
{links}{head}{limits}
    {{
        {call}
    }}
",
            plain = kernel.name,
            file = kernel.file,
            line = kernel.line,
            section = self.safety_section(),
            allowed = indented(NAMES),
            links = if comment.is_empty() { "" } else { LINKS },
            head = head.replacen("    fn", "    pub fn", 1).replacen(
                "    unsafe",
                "    pub unsafe",
                1
            ),
            limits = self.limits(&format!("Self: {trait_name}<{used}>"), "    "),
        )
    }

    /// What the source says of the kernel, above the rest of a wrapper's documentation.
    fn comment(&self) -> String {
        let first = self
            .generic
            .instances
            .first()
            .and_then(|(_, index)| self.interface.kernels.get(*index));
        let comment = first.map(|kernel| &*kernel.comment).unwrap_or_default();
        if comment.is_empty() { String::new() } else { commented(comment) + "    ///\n" }
    }

    /// The generic method that prepares launches.
    pub(super) fn preparing(&self) -> String {
        let Generic { trait_name, name: link, .. } = self.generic;
        let (declared, used) = (&self.declared, &self.used);
        let owner = format!("<Kernels as {trait_name}<{used}>>");
        let ty = |index: usize, ty: &ValueType| self.written(&owner, index, ty);
        let (launch, parameters) = parameters_with(self.first, &self.names, "'a", &ty);
        let (unsafety, who) = match self.is_unsafe {
            false => ("", ""),
            true => ("unsafe ", "; the caller answers for the rest"),
        };
        format!(
            "
    /// Prepares a launch of [`Kernels::{link}`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::{link}`].
{section}    {allowed}
    pub {unsafety}fn {name}<'a, {declared}>(
        &self,
        __launch: {launch},
{parameters}    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>>{limits}
    {{
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`{who}.
        unsafe {{
            ::kernelmill::__codegen::prepare(__device, |__stream| {{
                self.kernels.{name}::<{used}>(__stream, __launch{passed})
            }})
        }}
    }}
",
            section = self.safety_section(),
            allowed = indented(NAMES),
            name = identifier(link),
            limits = self.limits(&format!("Kernels: {trait_name}<{used}>"), "    "),
            passed = self.passed(),
        )
    }

    /// The generic method that gives compiled kernels.
    pub(super) fn compiled(&self) -> String {
        let Generic { trait_name, kernel, .. } = self.generic;
        let (declared, used) = (&self.declared, &self.used);
        format!(
            "
    /// An instance of the kernel of `{file}:{line}`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    {allowed}
    pub fn {name}<{declared}>(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel>
    where
        Kernels: {trait_name}<{used}>,
    {{
        self.loaded.compiled(<Kernels as {trait_name}<{used}>>::SIGNATURE)
    }}
",
            file = kernel.file,
            line = kernel.line,
            allowed = indented(NAMES),
            name = identifier(&self.generic.name),
        )
    }

    /// The name and the parameters of a function that launches.
    fn head(
        &self,
        name: &str,
        signature: &Signature,
        ty: &dyn Fn(usize, &ValueType) -> String,
    ) -> String {
        let (launch, parameters) = parameters_with(signature, &self.names, "", ty);
        let unsafety = if self.is_unsafe { "unsafe " } else { "" };
        format!(
            "    {unsafety}fn {name}(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: {launch},
{parameters}    ) -> ::kernelmill::Result<()>"
        )
    }

    /// The arguments that a wrapper passes on.
    fn passed(&self) -> String {
        self.names.iter().map(|name| format!(", {name}")).collect()
    }

    /// The type of a parameter, or of its elements, in terms of the kernel's own parameters.
    fn written(&self, owner: &str, index: usize, ty: &ValueType) -> String {
        match self.generic.kernel.forms.get(index) {
            Some(form) => self.form(form, &format!("{owner}::Argument{index}"), ty),
            None => type_name(ty),
        }
    }

    fn form(&self, form: &Form, associated: &str, ty: &ValueType) -> String {
        match (form, ty) {
            (Form::Parameter(index), _) => self.generic.names[*index].clone(),
            (Form::PerInstance, _) => associated.to_owned(),
            (Form::Array(form, length), ValueType::Array(element, _)) => {
                let length = match length {
                    Length::Same(length) => length.to_string(),
                    Length::Parameter(index) => self.generic.names[*index].clone(),
                };
                format!("[{}; {length}]", self.form(form, associated, element))
            }
            (Form::Same | Form::Array(..), ty) => type_name(ty),
        }
    }

    /// The parameters whose type is another one in each instance.
    fn per_instance(&self) -> impl Iterator<Item = usize> {
        let forms = self.generic.kernel.forms.iter().enumerate();
        forms.filter(|(_, form)| **form == Form::PerInstance).map(|(index, _)| index)
    }

    fn associated_types(&self) -> String {
        let one = |index: usize| {
            let bound = match is_memory(&self.first.parameters[index].kind) {
                true => ": ::kernelmill::DeviceCopy",
                false => "",
            };
            format!("    /// Of `{}`.\n    type Argument{index}{bound};\n\n", self.names[index])
        };
        self.per_instance().map(one).collect()
    }

    /// The `where` clause, which starts with this bound: elements that depend on the kernel's parameters can be copied.
    fn limits(&self, first: &str, indent: &str) -> String {
        let mut limits: Vec<String> = Vec::new();
        limits.extend((!first.is_empty()).then(|| first.to_owned()));
        let parameters = self.first.parameters.iter().enumerate();
        for (index, parameter) in parameters.filter(|(_, it)| is_memory(&it.kind)) {
            let form = self.generic.kernel.forms.get(index);
            if matches!(form, None | Some(Form::Same | Form::PerInstance)) {
                continue;
            }
            let ty = self.written("", index, parameter.kind.crossing());
            let limit = format!("{ty}: ::kernelmill::DeviceCopy");
            if !limits.contains(&limit) {
                limits.push(limit);
            }
        }
        if limits.is_empty() {
            return String::new();
        }
        let lines: String = limits.iter().map(|it| format!("\n{indent}    {it},")).collect();
        format!("\n{indent}where{lines}")
    }

    fn safety_section(&self) -> String {
        match self.is_unsafe {
            false => String::new(),
            true => {
                "    ///\n    /// # Safety\n    ///\n    /// As the wrappers of the instances.\n"
                    .to_owned()
            }
        }
    }

    /// The arguments of an instance, as the host writes them.
    fn arguments(&self, arguments: &[GenericArgument]) -> String {
        let one = |argument: &GenericArgument| match argument {
            GenericArgument::Type(ty) => type_name(ty),
            GenericArgument::Marker(name) => identifier(name),
            GenericArgument::Constant(value) => value.clone(),
        };
        arguments.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

fn is_memory(kind: &ParameterKind) -> bool {
    matches!(kind, ParameterKind::Slice { .. } | ParameterKind::Pointer { .. })
}

/// The kernel's own parameters, as a list of generics declares them.
fn declared(generic: &Generic) -> String {
    let one = |(name, parameter): (&String, &super::model::GenericParameter)| {
        parameter.constant.as_ref().map_or_else(|| name.clone(), |ty| format!("const {name}: {ty}"))
    };
    let all = generic.names.iter().zip(&generic.kernel.generics).map(one);
    all.collect::<Vec<_>>().join(", ")
}

/// The lints of a function of a trait.
fn allowed_in_trait() -> String {
    "    #[allow(
        non_snake_case,
        clippy::large_types_passed_by_value,
        clippy::many_single_char_names,
        clippy::similar_names,
        clippy::too_many_arguments,
        clippy::type_complexity,
        reason = \"the parameters are those of the kernel\"
    )]
"
    .to_owned()
}

fn in_unsafe(why: &str, call: &str) -> String {
    format!("// SAFETY: {why}\n        unsafe {{ {call} }}")
}

/// Lines of an item in an `impl`.
fn indented(text: &str) -> String {
    text.replace('\n', "\n    ")
}
