//! The interface of a build to its program: kernels, types and functions.

use super::{comments::Comments, expr::Expr};
use kernelmill_artifact::{
    DeviceFunction, EnumLayout, Signature, StructLayout, VariableDeclaration,
};
use kernelmill_compiler::frontend::{cuda::is_same_symbol, generic::GenericArgument};
use std::path::Path;

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
    /// The user's own type to use for it.
    pub(crate) mapped_to: Option<String>,
    /// Whether that is the very type of a module of kernels, which crosses by what is known of it.
    pub(crate) is_of_module: bool,
}

/// A struct in a signature.
#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) layout: StructLayout,
    /// The user's own type to use for it.
    pub(crate) mapped_to: Option<String>,
    /// Whether that is the very type of a module of kernels, which crosses by what is known of it.
    pub(crate) is_of_module: bool,
}

impl Interface {
    /// Reads what the sources of a package say of their kernels.
    pub(crate) fn read_comments(&mut self, root: &Path) {
        let mut comments = Comments::new(root);
        for Kernel { signature, comment, .. } in &mut self.kernels {
            *comment = comments.above(&signature.file, signature.line);
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
