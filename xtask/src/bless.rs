//! Rewrites snapshots: the texts in files that tests expect.

use crate::workspace::Workspace;
use anyhow::Result;

/// Which snapshots to rewrite.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Run the tests of these packages only; without it those of the workspace.
    #[arg(long = "package", short)]
    packages: Vec<String>,
    /// Run the tests only whose names have one of these texts.
    filters: Vec<String>,
}

/// Runs the tests with `KERNELMILL_TEST_BLESS=1`: a snapshot that differs is rewritten instead of
/// failing. Nothing else rewrites a snapshot. Tests that fail do not keep others from theirs.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let mut tests = vec!["test", "--no-fail-fast"];
    if options.packages.is_empty() {
        tests.push("--workspace");
    }
    tests.extend(options.packages.iter().flat_map(|package| ["--package", package]));
    if !options.filters.is_empty() {
        tests.push("--");
        tests.extend(options.filters.iter().map(String::as_str));
    }
    workspace.cargo(&tests).env("KERNELMILL_TEST_BLESS", "1").run()?;
    println!("read what changed with `git diff` before committing it");
    Ok(())
}
