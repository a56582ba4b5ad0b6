//! Runs each example; each verifies its own result.

use crate::{fake_driver, workspace::Workspace};
use anyhow::{Result, ensure};
use std::path::Path;

/// Name, arguments, and what its last line says when its result is right.
const EXAMPLES: [(&str, &[&str]); 9] = [
    ("saxpy", &[]),
    ("mandelbrot", &["--size", "320x200"]),
    ("photo", &[]),
    ("reduce", &[]),
    ("matmul", &[]),
    ("nbody", &[]),
    ("autodiff", &[]),
    ("dispatch", &[]),
    ("cudarc-interop", &[]),
];

/// Runs every example in release mode, in a folder for what they write: on the CPU, or on the CUDA
/// driver in the folder `driver`.
pub(crate) fn run_all(workspace: &Workspace, driver: Option<&Path>) -> Result<()> {
    let folder = workspace.temporary_folder()?;
    let folder = folder.path();
    let mut build = vec!["build", "--release"];
    for (name, _) in EXAMPLES {
        build.extend(["--package", name]);
    }
    workspace.cargo(&build).run()?;
    for (name, arguments) in EXAMPLES {
        run_one(workspace, folder, name, arguments, driver)?;
    }
    let picture = std::fs::metadata(folder.join("mandelbrot.png"))?;
    ensure!(picture.len() > 1000, "mandelbrot.png is only {} bytes", picture.len());
    Ok(())
}

fn run_one(
    workspace: &Workspace,
    folder: &Path,
    name: &str,
    arguments: &[&str],
    driver: Option<&Path>,
) -> Result<()> {
    let program = workspace.target.join("release").join(name);
    let _in_folder = workspace.shell.push_dir(folder);
    let output = workspace.shell.cmd(program).args(arguments);
    let output = match driver {
        Some(driver) => output.envs(fake_driver::variables(driver)).read()?,
        None => output.read()?,
    };
    println!("{output}");
    ensure!(!output.trim().is_empty(), "{name} printed nothing");
    let emulated = output.contains("PTX emulator");
    ensure!(emulated == driver.is_some(), "{name} ran on another device than it should");
    Ok(())
}
