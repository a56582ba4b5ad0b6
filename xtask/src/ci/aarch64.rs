//! Kernels on an emulated processor of aarch64: with the four lanes of NEON.

use crate::{
    setup::{AARCH64, AARCH64_EMULATOR},
    workspace::{Workspace, stage},
};
use anyhow::Result;
use std::env::consts::ARCH;

/// Builds the kernels of `tests/conformance`, and random ones, for aarch64, and runs them.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    if ARCH == "aarch64" {
        println!("this machine runs them in the other tests");
        return Ok(());
    }
    for package in ["conformance", "differential"] {
        stage(package, || {
            // The back end for CUDA links libdl, which is not among Rust's own libraries.
            let options = ["--package", package, "--no-default-features", "--target", AARCH64];
            let run = workspace.cargo(&["run"]).args(options);
            let linker = run.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld");
            Ok(linker
                .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER", AARCH64_EMULATOR)
                .run()?)
        })?;
    }
    Ok(())
}
