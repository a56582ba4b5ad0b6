//! `cargo xtask bench spine`: the figures of the whole road, as ratios measured in one run.

mod builds;
mod code;
mod launch;
mod machine;
mod package;
mod rebuild;

use crate::{
    setup,
    workspace::{Workspace, stage},
};
use anyhow::Result;
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

/// Measures and writes `benches/results/spine.md`.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let Set::Spine = options.set;
    stage("set-up", || setup::run(workspace))?;
    let mut report = machine::heading(workspace)?;
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
    println!("\n{report}");
    if options.only.is_none() {
        let path = workspace.root.join("benches/results/spine.md");
        std::fs::create_dir_all(workspace.root.join("benches/results"))?;
        std::fs::write(&path, report)?;
        println!("written to {}", path.display());
    }
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
