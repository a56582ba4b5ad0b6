//! `cargo kernelmill list`: the kernels of a package with their signatures and binaries.

use crate::package::{Built, Selection};
use anyhow::Result;
use std::fs;

/// Which package.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    selection: Selection,
}

/// A kernel as the generated wrappers document it.
#[derive(Debug, PartialEq, Eq)]
struct Kernel<'a> {
    /// File and line.
    place: &'a str,
    /// The signature at the level of the device.
    signature: &'a str,
}

/// Builds the package, and prints its kernels and the files in its `OUT_DIR`.
pub(crate) fn run(options: &Options) -> Result<()> {
    let built = options.selection.build(None)?;
    let bindings = fs::read_to_string(built.folder.join("kernels.rs"))?;
    let kernels = kernels(&bindings);
    let plural = if kernels.len() == 1 { "kernel" } else { "kernels" };
    println!("{}: {} {plural}", built.name, kernels.len());
    for Kernel { place, signature } in kernels {
        println!("  {signature}\n    {place}");
    }
    binaries(&built)
}

/// Reads the lines that the wrappers' documentation begins with:
/// ``/// Launches the kernel `name` of `place`:``, then ``/// `signature`.``.
fn kernels(bindings: &str) -> Vec<Kernel<'_>> {
    let lines: Vec<&str> = bindings.lines().map(str::trim).collect();
    let pairs = lines.windows(2).filter_map(|pair| {
        let head = pair[0].strip_prefix("/// Launches the kernel `")?;
        let (_, place) = head.split_once("` of `")?;
        let signature = pair[1].strip_prefix("/// `")?.trim_end_matches('.');
        Some(Kernel {
            place: place.trim_end_matches("`:"),
            signature: signature.trim_end_matches('`'),
        })
    });
    pairs.collect()
}

/// The binaries, with their sizes.
fn binaries(built: &Built) -> Result<()> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(&built.folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kinds = [".ptx", ".cubin", ".hsaco", ".spv", ".o"];
        if kinds.iter().any(|kind| name.ends_with(kind)) {
            lines.push(format!("  {name}  {} bytes", entry.metadata()?.len()));
        }
    }
    lines.sort();
    println!("binaries in {}:", built.folder.display());
    lines.iter().for_each(|line| println!("{line}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Kernel, kernels};

    #[test]
    fn the_documentation_of_a_wrapper() {
        let bindings = "    /// Launches the kernel `saxpy` of `kernels/saxpy.rs:4`:\n    \
                        /// `fn saxpy(a: f32)`.\n    ///\n";
        let expected = Kernel { place: "kernels/saxpy.rs:4", signature: "fn saxpy(a: f32)" };
        assert_eq!(kernels(bindings), [expected]);
    }
}
