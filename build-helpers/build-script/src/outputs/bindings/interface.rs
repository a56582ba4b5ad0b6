//! Collection of the interface, with checks that everything fits into one type.

use super::{
    comments::Documentation,
    generics,
    model::{Enum, Generic, Interface, Kernel, Marker, Struct, Variable},
    rules,
    type_names::{self, agree},
    variables,
};
use crate::{
    base::{error::Error, report::Report},
    discovery::{
        device_functions,
        place::{report_kernel, report_type},
        source::Source,
        templates,
    },
    settings::{
        contract::Rule,
        kernel::{KernelSettings, is_generic, is_of_template, report_rule_errors},
        located::MappedType,
        resolved::Settings,
    },
};
use kernelmill_artifact::{
    DeviceFunction, EnumLayout, FunctionType, MAX_ARGUMENTS, Safety, Signature, StructLayout,
    ValueType,
    target::{nearest, nearest_within},
};
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::frontend::{cuda::signature::is_same_kernel, generic::GenericArgument};
use std::collections::{BTreeMap, BTreeSet};

/// The functions that every `Kernels` has.
const FIXED: [&str; 2] = ["load", "signatures"];
/// The names of primitive types.
const PRIMITIVES: [&str; 17] = [
    "bool", "char", "str", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64",
    "u128", "usize", "f32", "f64",
];
/// The types that are there for the wrappers.
const TYPES: [&str; 6] = [
    "Kernels",
    "Functions",
    "CompiledKernels",
    "PreparedKernels",
    "PreparedScalars",
    "DeviceVariables",
];
/// What has the device functions, where there are any.
const FUNCTIONS: &str = "functions";

impl Interface {
    /// Collects the interface of some sources.
    ///
    /// # Errors
    ///
    /// [`Error::Sources`] where names clash or a kernel has too many parameters.
    pub(crate) fn of(
        sources: &[Source],
        settings: &Settings,
        package: &str,
    ) -> Result<Self, Error> {
        let mut report = Report::default();
        let mut types = Types::of(sources);
        let mut kernels = kernels(sources);
        type_names::resolve(&mut kernels);
        let mut generics = generics::of(sources, &kernels, &mut report);
        // What a source that was not read has is not known: a name may be that of a kernel in it.
        let is_complete = sources.iter().all(|source| source.signatures.is_some());
        let given =
            configure((&mut kernels, &mut generics), settings, (sources, is_complete), &mut report);
        check_given_names(&given, &kernels, &mut report);
        for Kernel { signature, .. } in &kernels {
            let place = format!("{}:{}", signature.file, signature.line);
            let by = given.iter().find(|given| given.name == signature.name());
            check_kernel(sources, signature, by, &mut report);
            for parameter in signature.parameters() {
                types.collect(parameter.kind.crossing(), &place, &mut report);
            }
        }
        let markers = types.collect_instances(&generics, &mut report);
        let functions = device_functions::named(sources, package);
        let names = kernels.iter().map(|kernel| kernel.signature.name());
        let names = names.chain(FIXED).chain((!functions.is_empty()).then_some(FUNCTIONS));
        let methods = names.map(str::to_owned).collect();
        generics::name(&mut generics, types.reserved(&markers), methods, &mut report);
        for (_, DeviceFunction { ty, file, line, .. }) in &functions {
            types.collect_function(ty, &format!("{file}:{line}"), &mut report);
        }
        let variables = variables::of(sources);
        for Variable { variable, .. } in &variables {
            let place = format!("{}:{}", variable.file, variable.line);
            types.collect(&variable.ty, &place, &mut report);
        }
        check_functions((&functions, &kernels), sources, &mut report);
        if is_complete {
            check_types((settings, sources), &types, &markers, &mut report);
        }
        let of_modules = types_of_modules(sources, settings, &types, &mut report);
        report.into_result(Error::Sources)?;
        let mapped = |name: &str| settings.types.get(name).map(|given| given.path.clone());
        let all_mapped = |name: &str| match (mapped(name), of_modules.get(name)) {
            (None, Some(own)) => (Some(own.clone()), true),
            (mapped, _) => (mapped, false),
        };
        let structs = types.structs.into_values().map(|(layout, _)| {
            let (mapped_to, is_of_module) = all_mapped(&layout.name);
            Struct { mapped_to, is_of_module, layout, documentation: Documentation::default() }
        });
        let enums = types.enums.into_values().map(|(layout, _)| {
            let (mapped_to, is_of_module) = all_mapped(&layout.name);
            Enum { mapped_to, is_of_module, layout, documentation: Documentation::default() }
        });
        let markers =
            markers.into_iter().map(|name| Marker { mapped_to: mapped(&name), name }).collect();
        let (structs, enums) = (structs.collect(), enums.collect());
        let (lacks_bitcode, unread) = (false, Vec::new());
        Ok(Self {
            structs,
            enums,
            functions,
            kernels,
            variables,
            generics,
            markers,
            lacks_bitcode,
            unread,
        })
    }
}

/// The types in signatures that are those of modules of kernels, by their names, with their paths in the crate. Two
/// modules that each have one of a name are reported: the wrappers take one.
fn types_of_modules(
    sources: &[Source],
    settings: &Settings,
    types: &Types<'_>,
    report: &mut Report,
) -> BTreeMap<String, String> {
    let mut found = BTreeMap::<String, String>::new();
    let modules = sources.iter().filter_map(|source| Some((source, source.module.as_ref()?)));
    for (source, module) in modules {
        let names = source.kernels().iter().flat_map(Signature::parameters);
        let mut own = Types::of(&[]);
        let ignored = &mut Report::default();
        names.for_each(|it| own.collect(it.kind.crossing(), "", ignored));
        let taken = own.names().filter(|name| types.names().any(|known| known == *name));
        for name in taken.filter(|name| !settings.types.contains_key(*name)) {
            let Some(path) = module.types.get(name) else { continue };
            match found.get(name) {
                Some(other) if other != path => report.message(
                    Code::DifferentTypes,
                    format!(
                        "the types `{path}` and `{other}` have the same name in wrappers, `{name}`: rename one \
                         of them, or choose one with `types = {{ {name} = \"{path}\" }}`"
                    ),
                ),
                Some(_) => {}
                None => {
                    found.insert(name.clone(), path.clone());
                }
            }
        }
    }
    found
}

/// The kernels of all sources; one of a header that several sources include is there once.
fn kernels(sources: &[Source]) -> Vec<Kernel> {
    let mut kernels: Vec<Kernel> = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        for kernel in source.kernels() {
            let signature = &source.with_state(kernel, &kernel.symbol);
            let known = kernels.iter_mut().find(|known| {
                !known.sources.contains(&index) && is_same_kernel(&known.signature, signature)
            });
            match known {
                Some(known) => known.sources.push(index),
                None => kernels.push(Kernel {
                    signature: signature.clone(),
                    sources: vec![index],
                    contract: Vec::new(),
                    comment: String::new(),
                }),
            }
        }
    }
    kernels
}

/// A name that the settings give a kernel.
struct GivenName<'s> {
    name: &'s str,
    /// What the settings call the kernel.
    key: &'s str,
    by: &'s KernelSettings,
}

/// Does what the settings say of single kernels, and gives the names that they have from there.
fn configure<'s>(
    (kernels, generics): (&mut [Kernel], &mut [Generic]),
    settings: &'s Settings,
    (sources, is_complete): (&[Source], bool),
    report: &mut Report,
) -> Vec<GivenName<'s>> {
    let mut given = Vec::new();
    let constants: Vec<_> =
        (0..kernels.len()).map(|it| generics::constants(generics, it)).collect();
    for (key, said) in &settings.kernels {
        let templates: Vec<_> =
            kernels.iter().map(|kernel| is_of_template(key, &kernel.signature)).collect();
        let is_meant =
            |(kernel, _): &(&mut Kernel, _)| settings.is_about(key, said, &kernel.signature);
        let mut meant = kernels.iter_mut().zip(&constants).filter(is_meant).peekable();
        if meant.peek().is_none() {
            drop(meant);
            if !is_complete {
                continue;
            }
            if let Some(source) = sources.iter().find(|it| templates::declares(it, key)) {
                said.without_instances(key, &source.display, report);
                continue;
            }
            let names = kernels.iter().map(|kernel| kernel.signature.name.to_string());
            let names = names.chain(templates::names(sources));
            let nearest = nearest_within(key, names, key.chars().count() / 2);
            said.unknown(key, (nearest.as_deref(), !kernels.is_empty()), report);
            continue;
        }
        let is_of_all = |generic: &&mut Generic| {
            is_generic(key, &generic.kernel.name, &generic.kernel.file)
                || generic.instances.iter().any(|(_, index)| templates[*index])
        };
        let name_of_all = generics.iter_mut().find(is_of_all);
        let is_name_of_one = name_of_all.is_none();
        if let Some((Kernel { signature, .. }, _)) = meant.peek()
            && is_name_of_one
            && !said.instances.is_empty()
            && !is_of_template(key, signature)
        {
            said.instances_not_wanted(signature, report);
        }
        if let (Some(generic), Some(name)) = (name_of_all, &said.name) {
            generic.name.clone_from(name);
        }
        for (kernel, constants) in meant {
            if let Some(name) = said.name.as_ref().filter(|_| is_name_of_one) {
                kernel.signature.name = name.clone().into();
                given.push(GivenName { name, key, by: said });
            }
            let template = match said.requires.is_empty() {
                true => Vec::new(),
                false => templates::parameters(sources, &kernel.signature),
            };
            for Rule { text, condition, origin } in &said.requires {
                let known = (constants, &*template);
                match rules::check((text, condition), &kernel.signature, known) {
                    Ok(check) => kernel.contract.push(check),
                    Err(errors) => report_rule_errors(key, text, origin.as_ref(), errors, report),
                }
            }
            if !said.requires.is_empty() {
                kernel.signature.safety = Safety::Safe;
            }
        }
    }
    given
}

/// Reports names from the settings that several kernels have. Sources with several kernels of one name are refused before.
fn check_given_names(given: &[GivenName<'_>], kernels: &[Kernel], report: &mut Report) {
    let mut known = BTreeSet::new();
    for GivenName { name, key, by } in given {
        let named: Vec<_> = kernels.iter().filter(|it| it.signature.name() == *name).collect();
        if named.len() > 1 && known.insert(name) {
            let places =
                named.iter().map(|it| format!("{}:{}", it.signature.file, it.signature.line));
            let places = places.collect::<Vec<_>>().join(" and ");
            let message = format!(
                "the kernel `{key}` cannot be named `{name}`: the kernels of {places} have that name"
            );
            let help = "give each another name: all kernels of a package are methods of one type";
            by.report_name(Code::SameName, message, help, report);
        }
    }
}

/// Reports what is wrong with one kernel, which may have its name from the settings.
fn check_kernel(
    sources: &[Source],
    kernel: &Signature,
    given: Option<&GivenName<'_>>,
    report: &mut Report,
) {
    if FIXED.contains(&kernel.name()) {
        let help = "rename it: the generated type `Kernels` has a method of this name already";
        if let Some(GivenName { name, key, by }) = given {
            let message = format!("the kernel `{key}` cannot be named `{name}`");
            by.report_name(Code::ReservedName, message, help, report);
        } else {
            let message = format!("a kernel cannot be named `{}`", kernel.name);
            report_kernel(sources, kernel, (Code::ReservedName, &message, help), report);
        }
    }
    let arguments: usize = kernel.parameters.iter().map(|it| it.kind.arguments()).sum();
    if arguments > MAX_ARGUMENTS {
        let message = format!(
            "the kernel `{}` has {arguments} arguments (a slice counts as two), more than {MAX_ARGUMENTS}",
            kernel.name
        );
        let help = "put values into a `#[repr(C)]` struct";
        report_kernel(sources, kernel, (Code::TooManyArguments, &message, help), report);
    }
}

/// Reports a kernel that is named as what gives the functions.
fn check_functions(
    (functions, kernels): (&[(String, DeviceFunction)], &[Kernel]),
    sources: &[Source],
    report: &mut Report,
) {
    let named = |kernel: &&Kernel| kernel.signature.name() == FUNCTIONS;
    if let (Some((function, _)), Some(Kernel { signature, .. })) =
        (functions.first(), kernels.iter().find(named))
    {
        let message = format!("a kernel cannot be named `{FUNCTIONS}`");
        let help = format!("rename it: `Kernels::{FUNCTIONS}` has `{function}`");
        report_kernel(sources, signature, (Code::ReservedName, &message, &help), report);
    }
}

/// The types in signatures, by name, with the place of a kernel that has them.
struct Types<'a> {
    sources: &'a [Source],
    structs: BTreeMap<String, (StructLayout, String)>,
    enums: BTreeMap<String, (EnumLayout, String)>,
}

impl<'a> Types<'a> {
    fn of(sources: &'a [Source]) -> Self {
        Self { sources, structs: BTreeMap::new(), enums: BTreeMap::new() }
    }

    fn collect(&mut self, ty: &ValueType, place: &str, report: &mut Report) {
        match ty {
            ValueType::Scalar(_) => {}
            ValueType::Array(element, _) => self.collect(element, place, report),
            ValueType::Enum(layout) => self.add_enum(layout, place, report),
            ValueType::Function(ty) => self.collect_function(ty, place, report),
            ValueType::Struct(layout) => {
                layout.fields.iter().for_each(|field| self.collect(&field.ty, place, report));
                self.add_struct(layout, place, report);
            }
        }
    }

    fn collect_function(&mut self, ty: &FunctionType, place: &str, report: &mut Report) {
        ty.parameters.iter().chain(&ty.result).for_each(|ty| self.collect(ty, place, report));
    }

    fn add_struct(&mut self, layout: &StructLayout, place: &str, report: &mut Report) {
        let name = &*layout.name;
        match self.structs.get_mut(name) {
            Some((known, _)) if agree(known, layout) => known.align = known.align.max(layout.align),
            Some((_, first)) => {
                report_different(self.sources, ("struct", "fields"), (name, place, first), report);
            }
            None => {
                check_type_name(self.sources, "struct", (name, place), report);
                self.structs.insert(name.to_owned(), (layout.clone(), place.to_owned()));
            }
        }
    }

    fn add_enum(&mut self, layout: &EnumLayout, place: &str, report: &mut Report) {
        let name = &*layout.name;
        match self.enums.get(name) {
            Some((known, _)) if known == layout => {}
            Some((_, first)) => {
                let what = ("enumeration", "values");
                report_different(self.sources, what, (name, place, first), report);
            }
            None => {
                check_type_name(self.sources, "enumeration", (name, place), report);
                self.enums.insert(name.to_owned(), (layout.clone(), place.to_owned()));
            }
        }
    }

    /// Collects the types that instances are named by, and gives the names of those that are nothing else.
    fn collect_instances(&mut self, generics: &[Generic], report: &mut Report) -> BTreeSet<String> {
        let mut markers = BTreeSet::new();
        for generic in generics {
            let place = format!("{}:{}", generic.kernel.file, generic.kernel.line);
            for argument in generic.instances.iter().flat_map(|(arguments, _)| arguments) {
                match argument {
                    GenericArgument::Type(ty) => self.collect(ty, &place, report),
                    GenericArgument::Marker(name) if markers.insert(name.clone()) => {
                        check_type_name(self.sources, "type", (name, &place), report);
                    }
                    GenericArgument::Marker(_) | GenericArgument::Constant(_) => {}
                }
            }
        }
        markers.retain(|name| self.names().all(|known| known != name));
        markers
    }

    /// The names that nothing else in the bindings may have.
    fn reserved(&self, markers: &BTreeSet<String>) -> BTreeSet<String> {
        let fixed = TYPES.into_iter().chain(PRIMITIVES).map(str::to_owned);
        self.names().chain(markers).cloned().chain(fixed).collect()
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.structs.keys().chain(self.enums.keys())
    }
}

/// Reports two types of one name that differ, by the places of kernels with them.
fn report_different(
    sources: &[Source],
    (what, parts): (&str, &str),
    (name, place, first): (&str, &str, &str),
    report: &mut Report,
) {
    let message = format!("the {what} `{name}` differs from the `{name}` of {first}");
    let help = format!(
        "both would be `kernels::{name}`: rename one of them, or give both the same {parts}"
    );
    let text = (Code::DifferentTypes, &*message, &*help);
    report_type(sources, (name, place, Some(first)), text, report);
}

fn check_type_name(
    sources: &[Source],
    what: &str,
    (name, place): (&str, &str),
    report: &mut Report,
) {
    let help = if TYPES.contains(&name) {
        format!("rename it: `kernels::{name}` is a type of the generated wrappers")
    } else if PRIMITIVES.contains(&name) {
        format!("rename it: wrappers of other kernels have the primitive type `{name}`")
    } else {
        return;
    };
    let message = format!("a {what} in a signature cannot be named `{name}`");
    let text = (Code::ReservedName, &*message, &*help);
    report_type(sources, (name, place, None), text, report);
}

/// Reports types that are given for structs that no signature has, or whose values are not for everybody to make.
fn check_types(
    (settings, sources): (&Settings, &[Source]),
    types: &Types<'_>,
    markers: &BTreeSet<String>,
    report: &mut Report,
) {
    let is_unknown = |(name, _): &(&String, &MappedType)| {
        types.names().chain(markers).all(|known| known != *name)
    };
    for (name, given) in settings.types.iter().filter(is_unknown) {
        let path = &given.path;
        let help = match nearest(name, types.names().chain(markers).cloned()) {
            Some(nearest) => format!("the nearest is `{nearest}`"),
            None => "remove it: no signature has a struct".to_owned(),
        };
        let message =
            format!("`types` gives `{path}` for `{name}`, a struct that no kernel's signature has");
        given.report(Code::MappedType, message, &help, report);
    }
    for (layout, place) in types.structs.values() {
        let has_private = layout.fields.iter().any(|field| !field.public);
        let Some(given) = settings.types.get(&*layout.name).filter(|_| has_private) else {
            continue;
        };
        let (name, path) = (&layout.name, &given.path);
        let message = format!(
            "`types` gives `{path}` for the struct `{name}`, which has a private field: only the kernels' code can make its \
             values"
        );
        let help =
            format!("make the fields `pub`, or remove it from `types` and use `kernels::{name}`");
        report_type(sources, (name, place, None), (Code::MappedType, &message, &help), report);
    }
}
