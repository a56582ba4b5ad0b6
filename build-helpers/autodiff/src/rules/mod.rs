//! What the derivative of each operation is.

mod emit;
mod expression;
mod names;
mod table;

use std::{collections::HashMap, fmt::Write as _};

use kernelmill_llvm::ir::{Opcode, Value};

pub(crate) use emit::{Emitter, Operand, mark_pure};
pub(crate) use expression::Partial;
use names::canonical;
pub(crate) use names::{MATH_PREFIX, path};
pub(crate) use table::{FUNCTIONS, OPERATORS, Rule};

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

    /// The names of the partial derivatives of a function with a rule of the user's.
    pub(crate) fn partials_of(&self, function: Value<'_>) -> Option<&[String]> {
        let symbol = function.name();
        let path = path(&symbol);
        self.custom.get(&symbol).or_else(|| self.custom.get(&path)).map(Vec::as_slice)
    }
}

/// How the change of one operand changes an operation's result.
#[derive(Debug)]
pub(crate) enum Flow<'r> {
    /// By a rule of the table.
    Partial(&'static Partial),
    /// By a factor that a function of the user's gives; empty for none.
    Custom(&'r str),
}

/// The flows of an operation's operands; `None` where no rule knows it.
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

/// The rule of the table for a function, and the type it is for. A function of the user's with the
/// name of one of C's is not that.
pub(crate) fn rule_of(function: Value<'_>) -> Option<(&'static Rule, String)> {
    let name = function.name();
    let known = function.is_declaration() || path(&name).contains("kernelmill_");
    known.then(|| canonical(&name)).flatten()
}

/// The rules as a table in Markdown, for `docs/src/guide/autodiff.md`.
#[must_use]
pub fn rules_as_markdown() -> String {
    let mut text = String::from(
        "| operation f | with respect to x | to y | to z |\n| --- | --- | --- | --- |\n",
    );
    let mut row = |name: &str, partials: &[Partial]| {
        let mut columns: Vec<String> =
            partials.iter().map(|partial| format!("`{partial}`")).collect();
        columns.resize(3, String::new());
        let columns = columns.join(" | ");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| `{name}` | {columns} |");
    };
    for (_, name, partials) in OPERATORS {
        row(name, partials);
    }
    for rule in FUNCTIONS {
        let parameters = &["x", "x, y", "x, y, z"][rule.partials.len() - 1];
        row(&format!("{}({parameters})", rule.name), rule.partials);
    }
    text
}
