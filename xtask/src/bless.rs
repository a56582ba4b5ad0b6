//! Rewrites the expected output of snapshot tests.

use crate::workspace::Workspace;
use anyhow::Result;

/// Runs the tests with `KERNELMILL_TEST_BLESS=1`: a snapshot that differs is rewritten instead of
/// failing. Nothing else rewrites a snapshot.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    workspace.cargo(&["test", "--workspace"]).env("KERNELMILL_TEST_BLESS", "1").run()?;
    println!("read what changed with `git diff` before committing it");
    Ok(())
}
