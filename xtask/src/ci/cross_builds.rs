//! Applications that are built here and run elsewhere: their kernels for the processor run on emulated machines.
//!
//! aarch64 has the four lanes of NEON, and is linked with musl by Rust's own tools and with glibc by GCC. Windows
//! has another calling convention, another `setjmp` and another format of objects. What the build scripts of
//! Windows and macOS would run has only its types checked: nothing here can run it.

use crate::{
    targets::{AARCH64_GCC, AARCH64_GNU, AARCH64_MUSL, CHECKED, MINGW, QEMU, WINDOWS, WINE},
    workspace::{Workspace, stage},
};
use anyhow::{Context as _, Result};
use std::{env::consts::ARCH, fs, path::PathBuf};
use xshell::Cmd;

/// What users of these hosts build, and all that it depends on.
const PACKAGES: [&str; 4] =
    ["kernelmill", "cargo-kernelmill", "kernelmill-autodiff", "kernelmill-sanitize"];

/// What is of these hosts alone: the devices of Metal and D3D12.
const FEATURES: [&str; 2] = ["--features", "kernelmill/wgpu"];

/// A function that Rust's standard library wants from Windows, and wine 8 does not have.
const RANDOM_NUMBERS: &str = "\
int __stdcall SystemFunction036(void *, unsigned long);
__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *data, unsigned long long length)
{
    return SystemFunction036(data, (unsigned long)length);
}
";

/// Checks the code for other hosts, and runs kernels for other targets.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    stage(&CHECKED.join(" and "), || {
        let packages = PACKAGES.iter().flat_map(|package| ["--package", package]);
        let hosts = CHECKED.iter().flat_map(|host| ["--target", host]);
        Ok(workspace.cargo(&["check"]).args(hosts).args(packages).args(FEATURES).run()?)
    })?;
    if ARCH == "aarch64" {
        println!("this machine runs the kernels for aarch64 in the other tests");
    } else {
        aarch64(workspace)?;
    }
    windows(workspace)
}

/// A build of a package's program for another host. `one-build` is named for the features that it gives to what build scripts
/// depend on, which all other builds have compiled with them.
fn build<'w>(workspace: &'w Workspace, target: &str, package: &str) -> Cmd<'w> {
    let packages = ["--package", package, "--package", "one-build", "--bin", package];
    workspace.cargo(&["build", "--target", target]).args(packages)
}

/// The program that it leaves.
fn program(workspace: &Workspace, target: &str, file: &str) -> PathBuf {
    workspace.target.join(target).join("debug").join(file)
}

/// Random kernels with one C library, and those of `tests/conformance` with the other.
fn aarch64(workspace: &Workspace) -> Result<()> {
    stage(AARCH64_MUSL, || {
        // The back end for CUDA links libdl, which is not among Rust's own libraries.
        let build = build(workspace, AARCH64_MUSL, "differential").arg("--no-default-features");
        build.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld").run()?;
        let program = program(workspace, AARCH64_MUSL, "differential");
        Ok(workspace.shell.cmd(QEMU).arg(program).run()?)
    })?;
    stage(AARCH64_GNU, || {
        let build = build(workspace, AARCH64_GNU, "conformance");
        build.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", AARCH64_GCC).run()?;
        let program = program(workspace, AARCH64_GNU, "conformance");
        let run = workspace.shell.cmd(QEMU).args(["-L", "/usr/aarch64-linux-gnu"]);
        Ok(run.arg(program).run()?)
    })
}

fn windows(workspace: &Workspace) -> Result<()> {
    stage(WINDOWS, || {
        let folder = workspace.temporary_folder()?;
        let source = folder.path().join("random_numbers.c");
        fs::write(&source, RANDOM_NUMBERS).context("the source of a library")?;
        let library = folder.path().join("bcryptprimitives.dll");
        let compile = workspace.shell.cmd(MINGW).args(["-shared", "-o"]).arg(&library);
        compile.arg(&source).arg("-ladvapi32").run()?;
        build(workspace, WINDOWS, "conformance").run()?;
        let run = workspace.shell.cmd(WINE).arg(program(workspace, WINDOWS, "conformance.exe"));
        run.env("WINEPREFIX", folder.path().join("prefix"))
            .env("WINEPATH", folder.path())
            .env("WINEDEBUG", "-all")
            .run()?;
        Ok(())
    })
}
