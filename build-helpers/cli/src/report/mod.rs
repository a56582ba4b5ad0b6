//! `cargo kernelmill report`: what each kernel takes of its device, and which drivers read its PTX.

mod charts;
mod facts;
mod listing;
mod page;
mod usage;

use crate::package::Selection;
use anyhow::{Context as _, Result, ensure};
use facts::{BinaryFacts, binaries};
use kernelmill_build::manifest::BinaryKind;
use std::{fs, path::PathBuf};
use usage::driver;
pub(crate) use usage::{Usage, name, text, usage, wrapper};

/// What to report on.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Reports on code for this target, `sm_90`, instead of those of the configuration.
    #[arg(long)]
    target: Option<String>,
    /// Prints JSON: each binary with its kernels, their resources and occupancy.
    #[arg(long)]
    json: bool,
    /// Writes one page of HTML with charts, and with source lines beside PTX and SASS, to this file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    selection: Selection,
}

const HEAD: &str =
    "registers  stores  loads  stack  shared  constant  threads  local  instructions  kernel";

const LEGEND: &str = "\
registers: of a thread; on AMD GPUs the scalar registers of a wave follow the `+`
stores, loads: spilled registers in bytes of a thread; on AMD GPUs the number of spilled registers
stack: bytes of a thread, `?` for a recursive kernel, whose stack has no bound
shared: bytes of shared memory of a block; constant: bytes of constant memory
threads: the most in a block; local: the instructions that read or write the stack
`-`: not known, or the target does not have it";

/// Builds the package, and prints a line for each kernel in a binary, and for each file of PTX.
pub(crate) fn run(options: &Options) -> Result<()> {
    let built = options.selection.build(options.target.as_deref())?;
    ensure!(
        !built.manifest.binaries.is_empty(),
        "the package `{}` was built without binaries: build it again without KERNELMILL_SKIP_BUILD and DOCS_RS",
        built.name
    );
    let facts = binaries(&built)?;
    if let Some(path) = &options.html {
        let root = options
            .selection
            .folder()?
            .context("no package is selected: name one with `--package`")?;
        let page = page::render(&built, &facts, &root)?;
        fs::write(path, page).with_context(|| path.display().to_string())?;
        println!("written to {}", path.display());
        return Ok(());
    }
    if options.json {
        println!("{:#}", facts::as_json(&built, &facts));
        return Ok(());
    }
    print(&facts);
    Ok(())
}

/// Prints the table.
fn print(facts: &[BinaryFacts<'_>]) {
    let is_ptx = |it: &&BinaryFacts<'_>| it.binary.kind == BinaryKind::Ptx;
    let (ptx, binaries): (Vec<_>, Vec<_>) = facts.iter().partition(is_ptx);
    ptx.iter().filter_map(|it| driver(it.binary)).for_each(|line| println!("{line}"));
    if !ptx.is_empty() && !binaries.iter().any(|it| it.binary.kind == BinaryKind::Cubin) {
        println!(
            "what PTX takes of a GPU is known only after it is assembled: name an architecture, `--target sm_90`"
        );
    }
    if binaries.is_empty() {
        return;
    }
    println!("{HEAD}");
    for facts in binaries {
        println!("{}:", facts.binary.file);
        for kernel in &facts.kernels {
            let (row, name) = (kernel.usage.row(), &*kernel.name);
            match &kernel.compiled.strategy {
                Some(strategy) => println!("{row}  {name}: {strategy}"),
                None => println!("{row}  {name}"),
            }
        }
    }
    println!("\n{LEGEND}");
}
