//! `cargo kernelmill list`: the kernels of a package with their signatures and binaries.

use crate::package::Selection;
use anyhow::Result;
use kernelmill_build::manifest;
use serde_json::json;
use std::{collections::BTreeSet, fs};

/// Which package.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Prints JSON: the package, its `OUT_DIR`, and the build manifest.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    selection: Selection,
}

/// Builds the package, and prints its kernels and binaries.
pub(crate) fn run(options: &Options) -> Result<()> {
    let built = options.selection.build(None)?;
    if options.json {
        let manifest = fs::read_to_string(built.path(manifest::FILE))?;
        let manifest: serde_json::Value = serde_json::from_str(&manifest)?;
        let facts = json!({ "package": built.name, "out_dir": built.folder, "manifest": manifest });
        println!("{facts:#}");
        return Ok(());
    }
    let (kernels, binaries) = (&built.manifest.kernels, &built.manifest.binaries);
    let word = if kernels.len() == 1 { "kernel" } else { "kernels" };
    println!("{}: {} {word}", built.name, kernels.len());
    for kernel in kernels {
        println!("  {}\n    {}:{}", kernel.signature, kernel.file, kernel.line);
        let compiled = built.manifest.compiled(kernel);
        let variants = compiled.filter_map(|(_, it)| Some(&*it.variant.as_ref()?.name));
        let variants: BTreeSet<_> = variants.collect();
        if !variants.is_empty() {
            let names: Vec<_> = variants.into_iter().collect();
            println!("    variants: {}", names.join(", "));
        }
    }
    println!("binaries in {}:", built.folder.display());
    for binary in binaries {
        println!("  {}  {} bytes", binary.file, binary.bytes);
    }
    Ok(())
}
