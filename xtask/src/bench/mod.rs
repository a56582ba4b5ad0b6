//! `cargo xtask bench`: figures measured in one run. `spine` has those of the whole road, `cpu` those
//! of kernels on the CPU.

mod builds;
mod code;
mod cpu;
mod launch;
mod machine;
mod package;
mod rebuild;

use crate::{
    setup,
    workspace::{Workspace, stage},
};
use anyhow::{Result, ensure};
use clap::ValueEnum;
use std::fmt::Write as _;

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The set of figures; its table is `benches/results/<set>.md`.
    #[arg(value_enum)]
    set: Set,
    /// Measure one part only, and print it instead of writing the table.
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// How often each build is measured; the median counts.
    #[arg(long, default_value_t = 3)]
    repeat: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum Set {
    /// Build times, code quality against nvcc, launch overhead.
    Spine,
    /// Kernels on the CPU against pocl, rayon, SIMD by hand and sequential algorithms.
    Cpu,
}

/// One part of the figures.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Clean builds against other build-dependencies.
    Builds,
    /// Builds after an edit, and after none.
    Rebuild,
    /// Registers and instructions against nvcc's.
    Code,
    /// Launch overhead on the CPU.
    Launch,
}

/// Measures and writes a table into `benches/results`.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    match options.set {
        Set::Spine => spine(workspace, options),
        Set::Cpu => {
            ensure!(options.only.is_none(), "`cpu` has no parts");
            let heading = machine::heading(workspace, "Kernels on the CPU", "cpu")?;
            let report = format!("{heading}\n{}\n", cpu::measure(workspace)?.trim_end());
            write(workspace, "cpu.md", &report)
        }
    }
}

fn spine(workspace: &Workspace, options: &Options) -> Result<()> {
    stage("set-up", || setup::run(workspace))?;
    let mut report = machine::heading(workspace, "Spine", "spine")?;
    for part in Part::value_variants() {
        if options.only.is_some_and(|only| only != *part) {
            continue;
        }
        let section = stage(title(*part), || match part {
            Part::Builds => builds::measure(workspace, options.repeat),
            Part::Rebuild => rebuild::measure(workspace, options.repeat),
            Part::Code => code::measure(workspace),
            Part::Launch => launch::measure(workspace),
        })?;
        write!(report, "\n## {}\n\n{section}", title(*part))?;
    }
    if options.only.is_some() {
        println!("\n{report}");
        return Ok(());
    }
    write(workspace, "spine.md", &report)
}

/// Prints a report and keeps it.
fn write(workspace: &Workspace, name: &str, report: &str) -> Result<()> {
    println!("\n{report}");
    let folder = workspace.root.join("benches/results");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(name), report)?;
    println!("written to {}", folder.join(name).display());
    Ok(())
}

fn title(part: Part) -> &'static str {
    match part {
        Part::Builds => "Clean builds",
        Part::Rebuild => "Builds after an edit",
        Part::Code => "Code on sm_90 against nvcc",
        Part::Launch => "Launches on the CPU",
    }
}

/// The middle one; of an even number the lower of the two.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}
