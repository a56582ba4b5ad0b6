//! Gives the plugin a digest of its own sources, which is part of its version.

use std::{io, path::Path};

fn main() -> io::Result<()> {
    let folder = Path::new("src");
    println!("cargo::rerun-if-changed={}", folder.display());
    let digest = kernelmill_artifact::source_digest(&[folder])?;
    println!("cargo::rustc-env=KERNELMILL_SANITIZE_DIGEST={digest}");
    Ok(())
}
