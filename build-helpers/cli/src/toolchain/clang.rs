//! clang comes from the system: no package of it can be put into a user's folder everywhere.

use crate::tools;
use anyhow::Result;
use kernelmill_build::toolchain::Machine;
use serde_json::json;

/// Says which clang there is, or the command that installs one.
pub(super) fn explain(machine: &Machine, is_json: bool) -> Result<()> {
    let rustc_version = tools::output(&tools::rustc(), &["-vV"]).unwrap_or_default();
    let found = machine.clang(&rustc_version)?;
    if is_json {
        let command = found.is_none().then(|| machine.clang_command(&rustc_version));
        let program = found.map(|clang| clang.program);
        println!("{:#}", json!({ "clang": program, "command": command }));
    } else if let Some(clang) = found {
        let version = clang.version.lines().next().unwrap_or_default().to_owned();
        println!("clang is installed: {version} at {}", clang.program.display());
    } else {
        println!(
            "kernelmill does not install clang; install it with the system's package manager, as root:"
        );
        println!("    {}", machine.clang_command(&rustc_version));
    }
    Ok(())
}
