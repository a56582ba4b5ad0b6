//! `cargo kernelmill inspect`: what a kernel was compiled to, as text, and for the CPU its lowering
//! strategy.

use crate::{assembly, package::Selection};
use anyhow::{Context as _, Result, bail};
use kernelmill_artifact::Target;

/// What to print.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The kernel: the name of its wrapper, or its symbol.
    kernel: String,
    /// What it is compiled for: `compute_75` prints PTX, `sm_90` SASS (by nvdisasm), and `cpu` its
    /// lowering strategy with the reason.
    #[arg(long, default_value = "compute_75")]
    target: String,
    #[command(flatten)]
    selection: Selection,
}

/// Builds the package for the one target, and prints the kernel.
pub(crate) fn run(options: &Options) -> Result<()> {
    let target: Target = options.target.parse()?;
    if !matches!(target, Target::Ptx(_) | Target::Cubin(_) | Target::Cpu) {
        bail!("`{target}` cannot be printed as text: ask for `compute_75`, `sm_90` or `cpu`");
    }
    let built = options.selection.build(Some(&options.target))?;
    let kernel = built.manifest.kernel(&options.kernel);
    let kernel = kernel.ok_or_else(|| built.no_kernel(&options.kernel))?;
    let (binary, compiled) = built
        .manifest
        .compiled(kernel)
        .find(|(binary, _)| binary.target == target.to_string())
        .with_context(|| format!("`{}` is not compiled for `{target}`", kernel.name))?;
    if target == Target::Cpu {
        let strategy = compiled.strategy.as_ref().context("it has no lowering strategy")?;
        println!("{strategy}");
        return Ok(());
    }
    let text = assembly::text(binary.kind, &built.path(&binary.file))?;
    let text = assembly::kernel(&text, &compiled.entry)
        .with_context(|| format!("{} has no entry point `{}`", binary.file, compiled.entry))?;
    println!("{text}");
    Ok(())
}
