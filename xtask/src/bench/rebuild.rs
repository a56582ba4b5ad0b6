//! What a build costs after an edit, and after none.

use super::{
    median::median,
    package::{Package, dependencies, manifest},
};
use crate::workspace::Workspace;
use anyhow::{Result, ensure};
use std::thread;
use std::time::Duration;

/// Edits a kernel of three targets, and for comparison a line of the program.
pub(super) fn measure(workspace: &Workspace, repeat: usize) -> Result<String> {
    let kernel = workspace.read("examples/saxpy/kernels/saxpy.rs")?;
    let program = workspace.read("examples/saxpy/src/main.rs")?;
    let (run, build) = dependencies(workspace);
    let targets = "targets = [\"cpu\", \"compute_75\", \"gfx1100\"]";
    let files = [
        ("Cargo.toml", manifest(&run, &build, targets)),
        ("build.rs", workspace.read("examples/saxpy/build.rs")?),
        ("kernels/saxpy.rs", kernel.clone()),
        ("src/main.rs", program.clone()),
    ];
    let package = Package::new(workspace, "edited", &files)?;
    package.clean_build()?;
    let nothing = package.cargo(&["build", "--offline", "--verbose"]).read_stderr()?;
    ensure!(nothing.contains("Fresh measured"), "the build script ran again:\n{nothing}");

    let (mut kernels, mut programs, mut idle) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..repeat.max(5) {
        package
            .write("kernels/saxpy.rs", &kernel.replace("a * x", &format!("{round}.5 * a * x")))?;
        kernels.push(build_after_a_moment(&package)?);
        package.write("src/main.rs", &format!("{program}// {round}\n"))?;
        programs.push(build_after_a_moment(&package)?);
        idle.push(build_after_a_moment(&package)?);
    }
    let (kernels, programs, idle) = (median(kernels), median(programs), median(idle));
    Ok(format!(
        "| change | seconds of `cargo build` |\n| --- | --- |\n\
         | none: cargo says `Fresh`, the build script does not run | {idle:.2} |\n\
         | a line of `src/main.rs` | {programs:.2} |\n\
         | the kernel, for `cpu`, `compute_75` and `gfx1100` | {kernels:.2} |\n\n\
         The kernel costs {:.2} s more than a line of the program, whose compiling and linking is \
         in both (aim: under 1 s).\n",
        kernels - programs,
    ))
}

/// The moment keeps modification times apart on file systems with coarse clocks.
fn build_after_a_moment(package: &Package<'_>) -> Result<f64> {
    thread::sleep(Duration::from_millis(20));
    Ok(package.build()?.wall)
}
