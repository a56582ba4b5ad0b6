//! Kernels on an emulated processor of aarch64: with the four lanes of NEON.

use crate::workspace::{Workspace, stage};
use anyhow::Result;
use std::env::consts::ARCH;

/// Linked whole by Rust's own tools, so that no C compiler and no library for it need be there.
pub(crate) const TARGET: &str = "aarch64-unknown-linux-musl";
/// What runs programs for it.
pub(crate) const EMULATOR: &str = "qemu-aarch64";

/// Builds the kernels of `tests/conformance`, and random ones, for aarch64, and runs them.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    if ARCH == "aarch64" {
        println!("this machine runs them in the other tests");
        return Ok(());
    }
    for package in ["conformance", "differential"] {
        stage(package, || {
            // The back end for CUDA links libdl, which is not among Rust's own libraries.
            let options = ["--package", package, "--no-default-features", "--target", TARGET];
            let run = workspace.cargo(&["run"]).args(options);
            let linker = run.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld");
            Ok(linker.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER", EMULATOR).run()?)
        })?;
    }
    Ok(())
}
