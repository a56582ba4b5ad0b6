//! The acceptance table: every point that the project was asked for, with the tests that prove it.
//!
//! `docs/acceptance.toml` has the points ([`points`]); a line `/// Acceptance: S2.1, C22.` in the
//! documentation of a test says which of them the test proves ([`tags`]). [`faults`] compares the two. The
//! table becomes a page of the book ([`mod@page`]), which a test rewrites for `cargo xtask bless`, as other
//! snapshots are.

mod faults;
mod page;
mod points;
mod tags;
#[cfg(test)]
mod tests;

use crate::workspace::Workspace;
use anyhow::{Context as _, Result, bail};
use points::Table;
use std::path::Path;
use tags::Tags;

/// The points.
const TABLE: &str = "docs/acceptance.toml";

/// The page that is written from them.
const PAGE: &str = "docs/src/internals/acceptance.md";

/// Checks the table, and that the page is the one that would be written.
///
/// # Errors
///
/// With every fault of the table and of the tags, or the first line in which the page differs.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    compare(&workspace.read(PAGE)?, &page(workspace)?)
}

/// The page for a workspace without faults.
fn page(workspace: &Workspace) -> Result<String> {
    let text = workspace.read(TABLE)?;
    let table: Table = toml::from_str(&text).with_context(|| format!("cannot read {TABLE}"))?;
    let tags = Tags::read(workspace)?;
    let is_file = |path: &str| Path::new(&workspace.root).join(path).is_file();
    let faults = faults::find(&table, &tags, &is_file);
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(page::write(&table, &tags))
}

/// An error that names the first line in which a page differs from the one that would be written.
fn compare(found: &str, expected: &str) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let same = found.lines().zip(expected.lines()).take_while(|(was, is)| was == is).count();
    bail!(
        "{PAGE} differs from line {} on; `cargo xtask bless -p xtask acceptance` writes it",
        same + 1
    )
}
