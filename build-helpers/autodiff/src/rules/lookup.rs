//! Lookup of rules: those of the table, and those of the user.

use std::collections::HashMap;

use kernelmill_llvm::ir::{Opcode, Value};

use super::{
    expression::Partial,
    names::{canonical, path},
    table::{OPERATORS, Rule},
};

/// The rules that a user adds to those of the table.
///
/// ```
/// use kernelmill_autodiff::Rules;
///
/// let mut rules = Rules::default();
/// // d/dx softplus(x) = logistic(x)
/// rules.custom("softplus", &["logistic"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rules {
    custom: HashMap<String, Vec<String>>,
}

impl Rules {
    /// Gives a function of the module a derivative of your own: for each of its parameters, the
    /// function of the same parameters that is the partial derivative with respect to it. An empty
    /// name stands for a partial derivative of 0. Functions are named by their symbol or by their
    /// path in Rust, `app::softplus`. Parameters and result are numbers.
    pub fn custom(&mut self, function: &str, partials: &[&str]) -> &mut Self {
        let partials = partials.iter().map(|&name| name.to_owned()).collect();
        self.custom.insert(function.to_owned(), partials);
        self
    }

    /// The names of the partial derivatives of a function with a custom rule.
    pub(crate) fn partials_of(&self, function: Value<'_>) -> Option<&[String]> {
        let symbol = function.name();
        let path = path(&symbol);
        self.custom.get(&symbol).or_else(|| self.custom.get(&path)).map(Vec::as_slice)
    }
}

/// The partial derivative of an operation with respect to one operand.
#[derive(Debug)]
pub(crate) enum Flow<'r> {
    /// An expression of the table.
    Partial(&'static Partial),
    /// The result of a function of the user, by its symbol; empty for 0.
    Custom(&'r str),
}

impl Flow<'_> {
    /// Whether a tangent or adjoint is multiplied, which may make NaN of a zero.
    pub(crate) fn is_product(&self) -> bool {
        match self {
            Self::Partial(partial) => matches!(partial, Partial::Times(_)),
            Self::Custom(name) => !name.is_empty(),
        }
    }
}

/// The partial derivatives of an operation, one for each operand; `None` where it has no rule.
pub(crate) fn flows<'r>(rules: &'r Rules, instruction: Value<'_>) -> Option<Vec<Flow<'r>>> {
    let of_table = |partials: &'static [Partial]| partials.iter().map(Flow::Partial).collect();
    if instruction.opcode() != Opcode::Call {
        let found = OPERATORS.iter().find(|(opcode, ..)| *opcode == instruction.opcode());
        return found.map(|(.., partials)| of_table(partials));
    }
    let callee = instruction.called_function()?;
    if let Some(partials) = rules.partials_of(callee) {
        return Some(partials.iter().map(|name| Flow::Custom(name)).collect());
    }
    Some(of_table(rule_of(callee)?.0.partials))
}

/// The rule of the table for a function, and the type it is for. A function of the user with the name
/// of a C function has none.
pub(crate) fn rule_of(function: Value<'_>) -> Option<(&'static Rule, String)> {
    let name = function.name();
    let known = function.is_declaration() || path(&name).contains("kernelmill_");
    known.then(|| canonical(&name)).flatten()
}
