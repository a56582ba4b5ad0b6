//! One name for each kernel of a program.

use super::{
    named::is_named,
    names::{self, FunctionName},
};
use crate::frontend::cuda::source::CudaKernel;
use kernelmill_artifact::Signature;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// Kernels that have one name, and nothing in C++ that would tell them apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The name.
    pub name: String,
    /// The full name in C++ and the place of each.
    pub kernels: Vec<String>,
    /// A key of the configuration that one of them can be named under.
    pub key: String,
}

impl fmt::Display for Clash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, kernels, key } = self;
        write!(
            formatter,
            "the wrappers of {} would all be named `{name}`: give one of them another name, \
             `[kernels.{key:?}]` with `name = \"...\"`",
            kernels.join(" and ")
        )
    }
}

/// Gives the kernels of a program, of all its files, names that are different.
///
/// A kernel keeps its plain name where no other has it. Kernels of different namespaces that have
/// one name get those of their namespaces before it (`a_scale`, `b_scale`), and overloads of one
/// function get the types of their parameters behind it (`add_float_int`). `chosen` has names that
/// the user gives, by file and symbol (`kernels/a.cu::scale`), name in C++, symbol, or the name that
/// the kernel would have.
///
/// A kernel of a header that several files include may be there several times; that is no clash.
pub fn resolve_names(
    kernels: &mut [&mut CudaKernel],
    chosen: &BTreeMap<String, String>,
) -> Vec<Clash> {
    let names: Vec<_> =
        kernels.iter().map(|kernel| names::function(&kernel.signature.symbol)).collect();
    let mut is_chosen = BTreeSet::new();
    for (index, kernel) in kernels.iter_mut().enumerate() {
        let symbol = kernel.signature.symbol.clone();
        let by_name = || chosen.iter().find(|(key, _)| is_named(&symbol, key));
        let name = chosen.get(&in_file(&kernel.signature));
        if let Some(name) = name.or_else(|| Some(by_name()?.1)) {
            kernel.signature.name = name.clone().into();
            is_chosen.insert(index);
        }
    }
    for extend in [with_namespaces, with_parameters] {
        for group in groups(kernels) {
            let parts: Vec<&FunctionName> = group.iter().map(|index| &names[*index]).collect();
            let plain = kernels[group[0]].signature.name.to_string();
            for (index, name) in group.iter().zip(extend(&plain, &parts)) {
                if !is_chosen.contains(index) {
                    kernels[*index].signature.name = name.into();
                }
            }
        }
    }
    for (index, kernel) in kernels.iter_mut().enumerate() {
        if let Some(name) =
            chosen.get(&*kernel.signature.name).filter(|_| !is_chosen.contains(&index))
        {
            kernel.signature.name = name.clone().into();
        }
    }
    groups(kernels).iter().map(|group| clash(kernels, group)).collect()
}

/// The clash of the kernels at these indices.
fn clash(kernels: &[&mut CudaKernel], group: &[usize]) -> Clash {
    let first = &kernels[group[0]];
    let describe = |index: &usize| {
        let CudaKernel { signature, full_name, .. } = &**kernels.get(*index)?;
        Some(format!("`{full_name}` ({}:{})", signature.file, signature.line))
    };
    Clash {
        name: first.signature.name.to_string(),
        kernels: group.iter().filter_map(describe).collect(),
        // Functions of C in two files have nothing but the file to tell them apart.
        key: if group.iter().any(|index| kernels[*index].full_name != first.full_name) {
            first.full_name.clone()
        } else {
            in_file(&first.signature)
        },
    }
}

/// A kernel's symbol with its file.
fn in_file(signature: &Signature) -> String {
    format!("{}::{}", signature.file, signature.symbol)
}

/// Whether two signatures are of one kernel, of a header that two files include.
pub fn is_same_kernel(first: &Signature, second: &Signature) -> bool {
    first.symbol == second.symbol
        && (&first.file, first.line) == (&second.file, second.line)
        && first.parameters == second.parameters
}

/// The kernels that share a name with another, by name and in their order.
fn groups(kernels: &[&mut CudaKernel]) -> Vec<Vec<usize>> {
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, kernel) in kernels.iter().enumerate() {
        by_name.entry(kernel.signature.name()).or_default().push(index);
    }
    let is_clash = |group: &Vec<usize>| {
        let (first, rest) = (&kernels[group[0]].signature, &group[1..]);
        rest.iter().any(|index| !is_same_kernel(first, &kernels[*index].signature))
    };
    by_name.into_values().filter(is_clash).collect()
}

/// Each with its namespaces before the plain name, where those are different.
fn with_namespaces(plain: &str, group: &[&FunctionName]) -> Vec<String> {
    let all: BTreeSet<_> = group.iter().map(|name| &name.namespaces).collect();
    let qualify = |name: &&FunctionName| match name.namespaces.as_slice() {
        [] => plain.to_owned(),
        namespaces => format!("{}_{plain}", namespaces.join("_")),
    };
    if all.len() == 1 {
        vec![plain.to_owned(); group.len()]
    } else {
        group.iter().map(qualify).collect()
    }
}

/// Each with the types of its parameters behind the name.
fn with_parameters(plain: &str, group: &[&FunctionName]) -> Vec<String> {
    let extend = |name: &&FunctionName| {
        let types = name.parameters.iter().flatten().map(|ty| names::identifier(ty));
        types.fold(plain.to_owned(), |text, ty| format!("{text}_{ty}"))
    };
    group.iter().map(extend).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernelmill_artifact::{Dimension, LaunchLimits, Safety};

    fn kernel(symbol: &str, line: u32) -> CudaKernel {
        let name = names::function(symbol);
        CudaKernel {
            signature: Signature {
                name: names::identifier(&name.plain).into(),
                symbol: symbol.to_owned().into(),
                dimension: Dimension::Any,
                safety: Safety::Unsafe,
                limits: LaunchLimits::NONE,
                parameters: Vec::new().into(),
                file: "kernels/a.cu".into(),
                line,
            },
            full_name: name.full,
            unsupported: Vec::new(),
        }
    }

    fn resolve(symbols: &[&str], chosen: &[(&str, &str)]) -> (Vec<String>, Vec<Clash>) {
        let mut kernels: Vec<_> = (1..).zip(symbols).map(|(line, it)| kernel(it, line)).collect();
        let mut all: Vec<_> = kernels.iter_mut().collect();
        let chosen = chosen.iter().map(|(key, name)| ((*key).to_owned(), (*name).to_owned()));
        let clashes = resolve_names(&mut all, &chosen.collect());
        (kernels.iter().map(|kernel| kernel.signature.name.to_string()).collect(), clashes)
    }

    #[test]
    fn a_name_is_as_short_as_it_can_be() {
        let (scale, a_scale, b_scale) = ("_Z5scalef", "_ZN1a5scaleEf", "_ZN1b5scaleEf");
        let (add_float, add_int) = ("_Z3addfPf", "_Z3addiPf");
        let names = |symbols: &[&str]| {
            let (names, clashes) = resolve(symbols, &[]);
            assert_eq!(clashes, []);
            names
        };
        assert_eq!(names(&[a_scale, add_int]), ["scale", "add"]);
        assert_eq!(names(&[scale, a_scale, b_scale]), ["scale", "a_scale", "b_scale"]);
        assert_eq!(names(&[add_float, add_int]), ["add_float_float", "add_int_float"]);
        assert_eq!(
            names(&["_ZN1a5scaleEf", "_ZN1a5scaleEi", "_ZN1b5scaleEf"]),
            ["a_scale_float", "a_scale_int", "b_scale"]
        );
    }

    #[test]
    fn names_can_be_chosen_and_what_is_left_is_a_clash() {
        let (names, clashes) = resolve(&["_Z5scalef", "_Z5scalei"], &[("scale(int)", "scale_i")]);
        assert_eq!((names, clashes.len()), (vec!["scale".into(), "scale_i".into()], 0));
        let (_, clashes) = resolve(&["same", "same"], &[]);
        assert_eq!(
            clashes[0].to_string(),
            "the wrappers of `same` (kernels/a.cu:1) and `same` (kernels/a.cu:2) would all be \
             named `same`: give one of them another name, \
             `[kernels.\"kernels/a.cu::same\"]` with `name = \"...\"`"
        );
        let (names, clashes) = resolve(&["_Z1kIPfEvv", "_Z1kIfEvv"], &[]);
        assert_eq!((names, clashes.len()), (vec!["k_float".to_owned(), "k_float".into()], 1));
    }

    #[test]
    fn a_kernel_of_a_header_may_be_there_twice() {
        let (mut first, mut second) = (kernel("_Z5scalef", 3), kernel("_Z5scalef", 3));
        assert_eq!(resolve_names(&mut [&mut first, &mut second], &BTreeMap::new()), []);
        assert_eq!((first.signature.name(), second.signature.name()), ("scale", "scale"));
    }
}
