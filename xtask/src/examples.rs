//! Runs each example on the CPU; each verifies its own result.

use crate::workspace::Workspace;
use anyhow::{Result, ensure};

/// Name, arguments, and what its last line says when its result is right.
const EXAMPLES: [(&str, &[&str]); 7] = [
    ("saxpy", &[]),
    ("mandelbrot", &["--size", "320x200", "--device", "cpu"]),
    ("photo", &[]),
    ("reduce", &[]),
    ("matmul", &[]),
    ("nbody", &[]),
    ("cudarc-interop", &[]),
];

/// Runs every example in release mode, in a folder for what they write.
pub(crate) fn run_all(workspace: &Workspace) -> Result<()> {
    let folder = workspace.target.join("tmp/examples");
    std::fs::create_dir_all(&folder)?;
    let mut build = vec!["build", "--release"];
    for (name, _) in EXAMPLES {
        build.extend(["--package", name]);
    }
    workspace.cargo(&build).run()?;
    for (name, arguments) in EXAMPLES {
        run_one(workspace, &folder, name, arguments)?;
    }
    let picture = std::fs::metadata(folder.join("mandelbrot.png"))?;
    ensure!(picture.len() > 1000, "mandelbrot.png is only {} bytes", picture.len());
    Ok(())
}

fn run_one(
    workspace: &Workspace,
    folder: &std::path::Path,
    name: &str,
    arguments: &[&str],
) -> Result<()> {
    let program = workspace.target.join("release").join(name);
    let _in_folder = workspace.shell.push_dir(folder);
    let output = workspace.shell.cmd(program).args(arguments);
    let output = output.read()?;
    println!("{output}");
    ensure!(!output.trim().is_empty(), "{name} printed nothing");
    Ok(())
}
