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
registers a thread, on AMD's GPUs with those of a wave behind the `+`; stores and loads of spilled
registers in bytes a thread, on AMD's GPUs the registers that are spilled; stack a thread, shared
memory a block and constant memory in bytes; threads is the most of a block; local counts the
instructions that read or write the stack; `-` is not known or not there, and `?` is the stack of
a kernel that recurses, which has no bound";

/// Builds the package, and prints a line for each kernel in a binary, and for each file of PTX.
pub(crate) fn run(options: &Options) -> Result<()> {
    let built = options.selection.build(options.target.as_deref())?;
    ensure!(!built.manifest.binaries.is_empty(), "`{}` was built without binaries", built.name);
    let facts = binaries(&built)?;
    if let Some(path) = &options.html {
        let root = options.selection.folder()?.context("say which package with --package")?;
        let page = page::render(&built, &facts, &root)?;
        fs::write(path, page).with_context(|| path.display().to_string())?;
        println!("{} is written", path.display());
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
            "what PTX takes of a GPU is known once it is assembled: name a target, `--target sm_90`"
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
