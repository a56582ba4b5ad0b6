//! Collection of the generic kernels of an interface, with the names that they have for the host.

use super::model::{Generic, Kernel};
use crate::{
    base::report::Report,
    discovery::{source::Source, template::Template, templates},
};
use kernelmill_artifact::symbol;
use kernelmill_compiler::{diagnostic::Code, frontend::generic::GenericArgument};
use std::collections::{BTreeMap, BTreeSet};

/// The generic kernels of some sources, whose instances are among these kernels.
pub(super) fn of(sources: &[Source], kernels: &[Kernel], report: &mut Report) -> Vec<Generic> {
    let mut generics = Vec::new();
    for (source, place) in sources.iter().zip(0..) {
        // Types of C++ may have got other names, and their kernels have those.
        let own = kernels.iter().filter(|it| it.sources.contains(&place));
        let own: Vec<_> = own.map(|it| it.signature.clone()).collect();
        let is_cpp = !source.templates.is_empty();
        let of_cpp = if is_cpp { templates::generics(&source.templates, &own) } else { Vec::new() };
        for generic in if is_cpp { &of_cpp } else { &source.generics } {
            let index = |name: &str| {
                let symbol = if is_cpp { name.to_owned() } else { symbol(name) };
                kernels.iter().position(|kernel| {
                    kernel.sources.contains(&place) && kernel.signature.symbol == symbol
                })
            };
            let is_it = |it: &&Template| it.name.rsplit("::").next() == Some(&*generic.name);
            let instances = generic.instances.iter();
            let instances =
                instances.filter_map(|it| Some((it.arguments.clone(), index(&it.kernel)?)));
            generics.push(Generic {
                kernel: generic.clone(),
                name: generic.name.clone(),
                trait_name: String::new(),
                names: Vec::new(),
                instances: instances.collect(),
                key: source.templates.iter().find(is_it).map(|it| it.key.clone()),
            });
        }
    }
    for generic in &generics {
        check_states(generic, kernels, report);
    }
    generics
}

/// The integers among the arguments of the instance that is the kernel of this place, by the names of their parameters.
pub(super) fn constants(generics: &[Generic], kernel: usize) -> BTreeMap<String, i128> {
    let of_instance = |generic: &Generic| {
        let (arguments, _) = generic.instances.iter().find(|(_, index)| *index == kernel)?;
        let named = generic.kernel.generics.iter().zip(arguments).filter_map(|(it, argument)| {
            let GenericArgument::Constant(text) = argument else { return None };
            Some((it.name.clone(), text.parse().ok()?))
        });
        Some(named.collect())
    };
    generics.iter().find_map(of_instance).unwrap_or_default()
}

/// Reports instances that have other launch state than the first: one wrapper cannot take it for all.
fn check_states(generic: &Generic, kernels: &[Kernel], report: &mut Report) {
    let count = |index: usize| kernels[index].signature.parameters.len();
    let Some((_, first)) = generic.instances.first() else { return };
    let other = generic.instances.iter().find(|(_, index)| count(*index) != count(*first));
    if let Some((_, other)) = other {
        let (file, line) = (&generic.kernel.file, generic.kernel.line);
        let [one, other] = [*first, *other].map(|index| &kernels[index].signature.name);
        report.plain(
            Code::LaunchState, format!("{file}:{line}: the instances `{one}` and `{other}` do not have the same launch state"),
            "write a separate kernel for one of them",
        );
    }
}

/// Names what the generic kernels have in the bindings, where names of types and of methods are taken; wrappers of one
/// name are reported.
pub(super) fn name(
    generics: &mut [Generic],
    mut taken: BTreeSet<String>,
    mut methods: BTreeSet<String>,
    report: &mut Report,
) {
    for generic in &mut *generics {
        if !methods.insert(generic.name.clone()) {
            let (name, file, line) = (&generic.name, &generic.kernel.file, generic.kernel.line);
            report.plain(
                Code::SameName, format!("{file}:{line}: the wrapper of the generic kernel `{name}` has the name of another wrapper"),
                "rename the kernel, or set `name` for it in the settings",
            );
        }
        generic.trait_name = free(&format!("{}Instance", camel_case(&generic.name)), &taken);
        taken.insert(generic.trait_name.clone());
    }
    for generic in generics {
        let names = generic.kernel.generics.iter();
        generic.names = names.map(|parameter| free(&parameter.name, &taken)).collect();
    }
}

/// The name, with underscores after it until it is free.
fn free(name: &str, taken: &BTreeSet<String>) -> String {
    let mut name = name.to_owned();
    while taken.contains(&name) {
        name.push('_');
    }
    name
}

/// `scale_2d` as the start of the name of a type, `Scale2d`.
fn camel_case(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string());
        first.unwrap_or_default() + letters.as_str()
    };
    name.split('_').map(word).collect()
}
