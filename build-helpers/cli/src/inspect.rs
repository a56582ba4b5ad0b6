//! `cargo kernelmill inspect`: what a kernel was compiled to, as text, and for the CPU its lowering
//! strategy.

use crate::{assembly, package::Selection};
use anyhow::{Context as _, Result, bail};
use kernelmill_artifact::Target;
use kernelmill_build::manifest::{Binary, Kernel};

/// What to print.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The kernel: the name of its wrapper, or its symbol.
    kernel: String,
    /// What it is compiled for: `compute_75` prints PTX, `sm_90` SASS (by nvdisasm), and `cpu` its
    /// lowering strategy with the reason.
    #[arg(long, default_value = "compute_75")]
    target: String,
    /// For the CPU, prints the passes of the compiler's back end in their order, with what each did.
    #[arg(long)]
    passes: bool,
    #[command(flatten)]
    selection: Selection,
}

/// Builds the package for the one target, and prints the kernel.
pub(crate) fn run(options: &Options) -> Result<()> {
    let target: Target = options.target.parse()?;
    if !matches!(target, Target::Ptx(_) | Target::Cubin(_) | Target::Cpu) {
        bail!("`{target}` cannot be printed as text: ask for `compute_75`, `sm_90` or `cpu`");
    }
    if options.passes && target != Target::Cpu {
        bail!("`--passes` is for the target `cpu`, whose code kernelmill's own passes make");
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
        if options.passes {
            print_passes(binary, kernel);
        }
        return Ok(());
    }
    let text = assembly::text(binary.kind, &built.path(&binary.file))?;
    let text = assembly::kernel(&text, &compiled.entry)
        .with_context(|| format!("{} has no entry point `{}`", binary.file, compiled.entry))?;
    println!("{text}");
    Ok(())
}

/// Prints what each pass did to a kernel, and to the module that it is in.
fn print_passes(binary: &Binary, kernel: &Kernel) {
    let is_about = |name: &&String| [&kernel.name, &kernel.symbol].contains(name);
    let passes = binary.passes.iter();
    for report in passes.filter(|report| report.kernel.as_ref().is_none_or(|it| is_about(&it))) {
        println!("  {report}");
    }
}
