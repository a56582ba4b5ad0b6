//! The interface of a build to its program: kernels, types and functions.

use super::{
    comments::{Comments, Documentation},
    expr::Expr,
};
use crate::base::paths;
use crate::discovery::{includes::Included, source::Source};
use kernelmill_artifact::{
    DeviceFunction, EnumLayout, Signature, StructLayout, ValueType, VariableDeclaration,
};
use kernelmill_compiler::frontend::{cuda::is_same_symbol, generic::GenericArgument};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

pub(crate) use kernelmill_compiler::frontend::generic::{GenericKernel, GenericParameter};

/// The kernels and structs of a build.
#[derive(Debug)]
pub(crate) struct Interface {
    /// Every kernel, by source.
    pub(crate) kernels: Vec<Kernel>,
    /// Every struct in a signature, by name.
    pub(crate) structs: Vec<Struct>,
    /// Every enumeration in a signature, by name.
    pub(crate) enums: Vec<Enum>,
    /// Every function that kernels can be given, by source.
    /// Each with its name there.
    pub(crate) functions: Vec<(String, DeviceFunction)>,
    /// Every variable that the host reads and writes, by source.
    pub(crate) variables: Vec<Variable>,
    /// Every generic kernel, by source.
    pub(crate) generics: Vec<Generic>,
    /// Every type that only names instances, by name.
    pub(crate) markers: Vec<Marker>,
    /// Whether a build without binaries leaves out bitcode, which programs compile.
    pub(crate) lacks_bitcode: bool,
    /// The sources that nothing has read in a build without binaries, each with the reason, a line each.
    pub(crate) unread: Vec<String>,
}

/// A generic kernel.
#[derive(Debug)]
pub(crate) struct Generic {
    pub(crate) kernel: GenericKernel,
    /// The name of its wrapper.
    pub(crate) name: String,
    /// The trait that `Kernels` has for each instance.
    pub(crate) trait_name: String,
    /// What the host calls its type and constant parameters.
    pub(crate) names: Vec<String>,
    /// The arguments of each instance, and the place of its kernel among all.
    pub(crate) instances: Vec<(Vec<GenericArgument>, usize)>,
    /// What the settings call it, where it is a template of C++.
    pub(crate) key: Option<String>,
}

/// A type that is a name for instances, and of which no value crosses.
#[derive(Debug)]
pub(crate) struct Marker {
    pub(crate) name: String,
    /// The user's own type to use for it.
    pub(crate) mapped_to: Option<String>,
}

/// A kernel.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) signature: Signature,
    /// The sources that have it, by their places: several where it is of a header.
    pub(crate) sources: Vec<usize>,
    /// The rules that its wrapper checks.
    pub(crate) contract: Vec<Check>,
    /// What its source says of it, in Markdown; empty where that is nothing.
    pub(crate) comment: String,
}

/// A variable that the host reads and writes.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) variable: VariableDeclaration,
    /// The sources that have it, by their places: several where it is of a header.
    pub(crate) sources: Vec<usize>,
    /// Those as messages and binaries have them.
    pub(crate) files: Vec<String>,
}

/// A rule of a contract.
#[derive(Debug)]
pub(crate) struct Check {
    /// As it is written.
    pub(crate) text: String,
    /// As Rust has it.
    pub(crate) condition: Expr,
    /// The names in it with their values, a pair of both for each.
    pub(crate) operands: Vec<Expr>,
}

/// An enumeration in a signature.
#[derive(Debug)]
pub(crate) struct Enum {
    pub(crate) layout: EnumLayout,
    /// What its source says of it.
    pub(crate) documentation: Documentation,
    /// The user's own type to use for it.
    pub(crate) mapped_to: Option<String>,
    /// Whether that is the very type of a module of kernels, which crosses by what is known of it.
    pub(crate) is_of_module: bool,
}

/// A struct in a signature.
#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) layout: StructLayout,
    /// What its source says of it.
    pub(crate) documentation: Documentation,
    /// The user's own type to use for it.
    pub(crate) mapped_to: Option<String>,
    /// Whether that is the very type of a module of kernels, which crosses by what is known of it.
    pub(crate) is_of_module: bool,
}

impl Interface {
    /// Reads what the sources of a package say of their kernels, and of the types that become types of the wrappers.
    pub(crate) fn read_comments(&mut self, root: &Path, sources: &[Source], folders: &[PathBuf]) {
        let mut comments = Comments::new(root);
        for Kernel { signature, comment, .. } in &mut self.kernels {
            *comment = comments.above(&signature.file, signature.line);
        }
        let kernels = &self.kernels;
        let mut find = |name: &str, parts: &[&str]| {
            let with_it = kernels.iter().filter(|kernel| {
                let mut types = kernel.signature.parameters().iter().map(|it| it.kind.crossing());
                types.any(|ty| mentions(ty, name))
            });
            let mut places = with_it.flat_map(|kernel| {
                let name = name_in_source(name, &kernel.signature);
                let own = files(kernel, root, sources, folders);
                own.into_iter().map(move |file| (file, name.clone()))
            });
            places.find_map(|(file, name)| comments.of_type(&file, &name, parts))
        };
        for Struct { layout, documentation, .. } in &mut self.structs {
            let parts: Vec<_> = layout.fields.iter().map(|field| &*field.name).collect();
            *documentation = find(&layout.name, &parts).unwrap_or_default();
        }
        for Enum { layout, documentation, .. } in &mut self.enums {
            let parts: Vec<_> = layout.variants.iter().map(|variant| &*variant.name).collect();
            *documentation = find(&layout.name, &parts).unwrap_or_default();
        }
    }

    /// The place among the kernels of the one that a source's compiled code has under a name.
    pub(crate) fn index_of(&self, source: usize, symbol: &str) -> Option<usize> {
        let is_it = |kernel: &Kernel| {
            kernel.sources.contains(&source) && is_same_symbol(&kernel.signature.symbol, symbol)
        };
        self.kernels.iter().position(is_it)
    }
}

/// Whether a type is or has the one of a name.
fn mentions(ty: &ValueType, name: &str) -> bool {
    match ty {
        ValueType::Scalar(_) | ValueType::Function(_) => false,
        ValueType::Array(element, _) => mentions(element, name),
        ValueType::Enum(layout) => layout.name == name,
        ValueType::Struct(layout) => {
            layout.name == name || layout.fields.iter().any(|field| mentions(&field.ty, name))
        }
    }
}

/// The name that a type has in its source: not its namespace, and not that of the file, which a type has where several
/// files have one of its name.
fn name_in_source(name: &str, kernel: &Signature) -> String {
    let name = name.split('<').next().unwrap_or(name);
    let name = name.rsplit("::").next().unwrap_or(name);
    let stem = Path::new(&*kernel.file).file_stem().unwrap_or_default().to_string_lossy();
    let renamed = name.strip_prefix(&*stem).and_then(|rest| rest.strip_prefix('_'));
    renamed.unwrap_or(name).to_owned()
}

/// The files that may declare a kernel's types, relative to the package: its own first.
fn files(kernel: &Kernel, root: &Path, sources: &[Source], folders: &[PathBuf]) -> Vec<String> {
    let mut found = vec![kernel.signature.file.to_string()];
    for source in kernel.sources.iter().filter_map(|index| sources.get(*index)) {
        found.extend(source.texts.iter().map(|(display, _)| display.clone()));
        let included = Included::by(&source.path, source.text(), folders).files;
        found.extend(included.iter().map(|(path, _)| paths::relative(root, path)));
    }
    let mut seen = BTreeSet::new();
    found.retain(|file| seen.insert(file.clone()));
    found
}
