//! The comparison as one page of HTML that needs no network.

use super::table::{Row, Table};
use anyhow::Result;
use minijinja::{Environment, Value, context};

const PAGE: &str = include_str!("../../templates/pages/diff.html");
const STYLE: &str = include_str!("../../templates/pages/style.css");

/// Renders the page.
pub(super) fn render(table: &Table<'_>, before: &str, now: &str) -> Result<String> {
    let rows: Vec<_> = table.rows.iter().map(row).collect::<Result<_>>()?;
    let values = context! {
        title => format!("Kernels in {before} and in {now}"),
        style => Value::from_safe_string(STYLE.to_owned()),
        has_changes => table.has_changes(),
        rows,
    };
    Ok(Environment::new().render_named_str("diff.html", PAGE, values)?)
}

fn row(row: &Row<'_>) -> Result<Value> {
    let lines = row.lines()?;
    // The first four lines of a difference name the two files, which are temporary.
    let lines: Vec<_> = lines.lines().skip(4).map(line).collect();
    let (change, summary) = (row.change.word(), row.summary());
    Ok(context! { target => row.target, kernel => row.kernel, change, summary, lines })
}

fn line(text: &str) -> Value {
    let class = match text.as_bytes().first() {
        Some(b'+') => "added",
        Some(b'-') => "removed",
        Some(b'@') => "dim",
        _ => "",
    };
    context! { text, class }
}
