//! `cargo kernelmill list`: the kernels of a package with their signatures and binaries.

use crate::package::Selection;
use anyhow::Result;

/// Which package.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    selection: Selection,
}

/// Builds the package, and prints its kernels and binaries.
pub(crate) fn run(options: &Options) -> Result<()> {
    let built = options.selection.build(None)?;
    let (kernels, binaries) = (&built.manifest.kernels, &built.manifest.binaries);
    let word = if kernels.len() == 1 { "kernel" } else { "kernels" };
    println!("{}: {} {word}", built.name, kernels.len());
    for kernel in kernels {
        println!("  {}\n    {}:{}", kernel.signature, kernel.file, kernel.line);
    }
    println!("binaries in {}:", built.folder.display());
    for binary in binaries {
        println!("  {}  {} bytes", binary.file, binary.bytes);
    }
    Ok(())
}
