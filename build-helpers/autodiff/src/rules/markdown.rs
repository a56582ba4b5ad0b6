//! The table of rules as documentation.

use std::fmt::Write as _;

use super::{
    expression::Partial,
    table::{FUNCTIONS, OPERATORS},
};

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
