//! Launch overhead, as the run time's own benchmark measures it.

use crate::workspace::Workspace;
use anyhow::{Result, ensure};

/// Runs `benches/launch.rs` of the package `kernelmill` and keeps what it prints.
pub(super) fn measure(workspace: &Workspace) -> Result<String> {
    let arguments = ["bench", "--quiet", "--package", "kernelmill", "--bench", "launch"];
    let printed = workspace.cargo(&arguments).quiet().read()?;
    ensure!(!printed.trim().is_empty(), "the benchmark printed nothing");
    Ok(format!(
        "`cargo bench -p kernelmill --bench launch` (aim: an empty kernel of one block in under 1 \
         microsecond)\n\n```text\n{}\n```\n",
        printed.trim()
    ))
}
