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
use std::{env::consts::ARCH, fs};

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
    for host in CHECKED {
        stage(host, || {
            let packages = PACKAGES.iter().flat_map(|package| ["--package", package]);
            let check = workspace.cargo(&["check", "--target", host]);
            Ok(check.args(packages).args(FEATURES).run()?)
        })?;
    }
    if ARCH == "aarch64" {
        println!("this machine runs the kernels for aarch64 in the other tests");
    } else {
        aarch64(workspace)?;
    }
    windows(workspace)
}

/// Random kernels with one C library, and those of `tests/conformance` with the other.
fn aarch64(workspace: &Workspace) -> Result<()> {
    stage(AARCH64_MUSL, || {
        // The back end for CUDA links libdl, which is not among Rust's own libraries.
        let options = ["--package", "differential", "--no-default-features"];
        let run = workspace.cargo(&["run", "--target", AARCH64_MUSL]).args(options);
        let run = run.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld");
        Ok(run.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER", QEMU).run()?)
    })?;
    stage(AARCH64_GNU, || {
        let runner = format!("{QEMU} -L /usr/aarch64-linux-gnu");
        let run = workspace.cargo(&["run", "--target", AARCH64_GNU, "--package", "conformance"]);
        let run = run.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", AARCH64_GCC);
        Ok(run.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", runner).run()?)
    })
}

fn windows(workspace: &Workspace) -> Result<()> {
    stage(WINDOWS, || {
        let folder = workspace.temporary_folder()?;
        let source = folder.path().join("random_numbers.c");
        fs::write(&source, RANDOM_NUMBERS).context("the source of a library")?;
        let library = folder.path().join("bcryptprimitives.dll");
        let build = workspace.shell.cmd(MINGW).args(["-shared", "-o"]).arg(&library);
        build.arg(&source).arg("-ladvapi32").run()?;
        let run = workspace.cargo(&["run", "--target", WINDOWS, "--package", "conformance"]);
        run.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", WINE)
            .env("WINEPREFIX", folder.path().join("prefix"))
            .env("WINEPATH", folder.path())
            .env("WINEDEBUG", "-all")
            .run()?;
        Ok(())
    })
}
