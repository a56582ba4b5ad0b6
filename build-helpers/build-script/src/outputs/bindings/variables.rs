//! Device variables in the bindings: `Kernels::variables`, with a method for each.

use std::collections::BTreeMap;

use super::{
    expr::{Expr, Field},
    model::{Interface, Variable},
    names::identifier,
    types::type_name,
};
use crate::discovery::source::Source;

/// The variables of all sources; one of a header that several sources include is there once, and each of them has its own
/// copy. Variables of one name get the names of their files before it.
pub(super) fn of(sources: &[Source]) -> Vec<Variable> {
    let mut variables: Vec<Variable> = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        for variable in &source.variables {
            let is_it = |known: &&mut Variable| {
                let known = &known.variable;
                (&known.symbol, &known.file, known.line, &known.ty)
                    == (&variable.symbol, &variable.file, variable.line, &variable.ty)
            };
            if let Some(known) = variables.iter_mut().find(is_it) {
                known.sources.push(index);
                known.files.push(source.display.clone());
                continue;
            }
            let (sources, files) = (vec![index], vec![source.display.clone()]);
            variables.push(Variable { variable: variable.clone(), sources, files });
        }
    }
    for longer in [with_namespace, with_file, with_number] {
        let mut names: BTreeMap<String, u32> = BTreeMap::new();
        for Variable { variable, .. } in &variables {
            *names.entry(variable.name.to_string()).or_default() += 1;
        }
        for (index, variable) in variables.iter_mut().enumerate() {
            if names[&*variable.variable.name] > 1 {
                variable.variable.name = longer(variable, index).into();
            }
        }
    }
    variables
}

/// `filters_table` of `filters::table`.
fn with_namespace(variable: &Variable, _index: usize) -> String {
    let full = kernelmill_compiler::frontend::cuda::signature::full_name(&variable.variable.symbol);
    let text = as_identifier(&full.replace("::", "_"));
    // Arguments of templates end in a bracket, and runs of signs are one underscore, as in their names.
    match full.ends_with('>') {
        true => text.split('_').filter(|it| !it.is_empty()).collect::<Vec<_>>().join("_"),
        false => text,
    }
}

/// `blur_table` of `kernels/blur.cu`.
fn with_file(variable: &Variable, _index: usize) -> String {
    let file = variable.variable.file.rsplit('/').next().unwrap_or_default();
    let stem = file.split('.').next().unwrap_or_default();
    as_identifier(&format!("{stem}_{}", variable.variable.name))
}

fn with_number(variable: &Variable, index: usize) -> String {
    format!("{}_{index}", variable.variable.name)
}

fn as_identifier(text: &str) -> String {
    let text: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if text.starts_with(|c: char| c.is_ascii_digit()) { format!("_{text}") } else { text }
}

/// The name of the method that gives them.
pub(super) const VARIABLES: &str = "variables";

/// That method.
pub(super) const METHOD: &str = "
    /// The variables of the kernels' sources that the host reads and writes.
    #[must_use]
    pub const fn variables(&self) -> DeviceVariables<'_> {
        DeviceVariables { loaded: &self.loaded }
    }
";

/// That method where there are none: a call of it is an error that says so. Its type parameter keeps the bound, which nothing
/// meets, from being checked where the method is declared.
pub(super) const NONE: &str = "
    #[doc(hidden)]
    pub const fn variables<Any>(&self)
    where
        (Self, Any): ::kernelmill::__codegen::HasDeviceVariables,
    {
        let _ = self;
    }
";

/// The struct with a method for each variable.
pub(super) fn structure(interface: &Interface) -> String {
    let method = |(index, it): (usize, &Variable)| {
        let (file, line, name) =
            (&it.variable.file, it.variable.line, identifier(&it.variable.name));
        let ty = type_name(&it.variable.ty);
        format!(
            "
    /// The variable of `{file}:{line}`.
    ///
    /// # Errors
    ///
    /// Where no binary that is loaded on this device has it.
    pub fn {name}(&self) -> ::kernelmill::Result<::kernelmill::DeviceVariable<{ty}>> {{
        // SAFETY: this is its type.
        unsafe {{ self.loaded.variable(&SET.variables[{index}]) }}
    }}
"
        )
    };
    let methods: String = interface.variables.iter().enumerate().map(method).collect();
    let methods = methods.trim_start_matches('\n');
    format!(
        "
/// The variables that the host reads and writes, for [`Kernels::variables`].
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, unreachable_pub, reason = \"a program need not set anything\")]
pub struct DeviceVariables<'a> {{
    loaded: &'a ::kernelmill::__codegen::Loaded,
}}

#[allow(
    dead_code,
    non_snake_case,
    unreachable_pub,
    clippy::similar_names,
    reason = \"the methods have the names of the variables, used or not\"
)]
impl DeviceVariables<'_> {{
{methods}}}
"
    )
}

/// The variables, for the static.
pub(super) fn list(interface: &Interface) -> Expr {
    let variable = |it: &Variable| {
        let sources = it.files.iter().map(|file| Expr::text(file)).collect();
        Expr::Struct(
            "cg::VariableLayout",
            vec![
                Field::new("name", Expr::text(&it.variable.name)),
                Field::new("symbol", Expr::text(&it.variable.symbol)),
                Field::new("bytes", Expr::atom(it.variable.ty.size().to_string())),
                Field::new("sources", Expr::Slice(sources)),
            ],
        )
    };
    Expr::Slice(interface.variables.iter().map(variable).collect())
}
