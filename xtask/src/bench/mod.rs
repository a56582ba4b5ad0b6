//! `cargo xtask bench`: figures measured in one run. `spine` has those of a whole build, `cpu` those
//! of kernels on the CPU, `corpus` of kernels of public suites there, `cuda-corpus` of the same on a GPU, `math` the error of mathematical functions.

mod builds;
mod code;
mod compile_time;
mod corpus;
mod cpu;
mod crates;
pub(crate) mod cuda_corpus;
mod files;
mod instructions;
mod launch;
pub(crate) mod machine;
mod median;
mod memory;
mod package;
mod rebuild;
mod toolkit;

pub(crate) use code::{KERNELS, nvcc_files};

use crate::{
    setup,
    workspace::{Workspace, stage},
};
use anyhow::{Result, ensure};
use clap::ValueEnum;
use std::{fmt::Write as _, path::PathBuf};

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
    /// What the programs of `cuda-corpus` printed on another machine, as `nvcc.txt` and `clang.txt` in this folder.
    #[arg(long, value_name = "FOLDER")]
    printed: Option<PathBuf>,
    /// A checkout of a suite of `corpus` and `cuda-corpus` that is not to be fetched: `polybench`, `rodinia` or `hecbench`, and its folder.
    #[arg(long, value_name = "SUITE=PATH")]
    from: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Set {
    /// Build times, code quality and instructions that run against nvcc, launch overhead.
    Spine,
    /// Real crates' CUDA C++, and cudaforge on the same files.
    Build,
    /// Kernels on the CPU against pocl, rayon, SIMD by hand and sequential algorithms.
    Cpu,
    /// Kernels in CUDA C++ of public suites on the CPU against plain C with OpenMP, into `cpu-corpus.md`.
    Corpus,
    /// The same kernels on an NVIDIA GPU, compiled by nvcc and by clang, into `cuda-corpus.md`.
    CudaCorpus,
    /// The error of mathematical functions, into `docs/src/reference/math.md`.
    Math,
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
    /// Instructions that run against nvcc's, counted by the emulator.
    Instructions,
    /// Launch overhead on the CPU.
    Launch,
    /// The steps of a developer's day, against cudaforge.
    Cudaforge,
    /// Whole crates for two targets.
    Whole,
    /// The time that the files of `corpus` take to compile for the CPU, against nvcc's.
    CompileTime,
}

impl Set {
    /// The parts of a table.
    fn parts(self) -> &'static [Part] {
        match self {
            Self::Spine => {
                &[Part::Builds, Part::Rebuild, Part::Code, Part::Instructions, Part::Launch]
            }
            Self::Build => &[Part::Cudaforge, Part::Whole],
            Self::Cpu | Self::Corpus | Self::CudaCorpus | Self::Math => &[],
        }
    }
}

/// Measures and writes a table into `benches/results`.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    match options.set {
        Set::Spine => parts(workspace, options, "Spine", "spine"),
        Set::Build => parts(workspace, options, "CUDA C++ of real crates", "build"),
        Set::Cpu => {
            ensure!(options.only.is_none(), "`cpu` has no parts: leave `--only` out");
            let heading = machine::heading(workspace, "Kernels on the CPU", "cpu")?;
            let report = format!("{heading}\n{}\n", cpu::measure(workspace)?.trim_end());
            write(workspace, "cpu.md", &report)
        }
        Set::Corpus => {
            let heading =
                machine::heading(workspace, "Kernels of public suites on the CPU", "corpus")?;
            if options.only == Some(Part::CompileTime) {
                let table = compile_time::measure(workspace, &options.from)?;
                println!("\n{heading}\n## {}\n\n{table}", title(Part::CompileTime));
                return Ok(());
            }
            ensure!(
                options.only.is_none(),
                "`corpus` has one part: write `--only compile-time`, or leave `--only` out"
            );
            let table = corpus::measure(workspace, &options.from)?;
            write(workspace, "cpu-corpus.md", &format!("{heading}\n{}\n", table.trim_end()))
        }
        Set::CudaCorpus => {
            ensure!(options.only.is_none(), "`cuda-corpus` has no parts: leave `--only` out");
            let title = "# Kernels of public suites on an NVIDIA GPU\n\n`cargo xtask bench cuda-corpus`.\n\n";
            let table = cuda_corpus::measure(workspace, &options.from, options.printed.as_deref())?;
            write(workspace, "cuda-corpus.md", &format!("{title}{}\n", table.trim_end()))
        }
        Set::Math => {
            ensure!(options.only.is_none(), "`math` has no parts: leave `--only` out");
            let file = workspace.root.join("docs/src/reference/math.md");
            let run = ["run", "--release", "--package", "math-table", "--", "--write"];
            Ok(workspace.cargo(&run).arg(file).run()?)
        }
    }
}

/// Measures the parts of a table, or the one that is asked for.
fn parts(workspace: &Workspace, options: &Options, name: &str, set: &str) -> Result<()> {
    let parts = options.set.parts();
    ensure!(
        options.only.is_none_or(|only| parts.contains(&only)),
        "the part of `--only` does not belong to `{set}`"
    );
    stage("set-up", || setup::run(workspace))?;
    let mut report = machine::heading(workspace, name, set)?;
    for part in parts {
        if options.only.is_some_and(|only| only != *part) {
            continue;
        }
        let section = stage(title(*part), || match part {
            Part::Builds => builds::measure(workspace, options.repeat),
            Part::Rebuild => rebuild::measure(workspace, options.repeat),
            Part::Code => code::measure(workspace),
            Part::Instructions => instructions::measure(workspace),
            Part::Launch => launch::measure(workspace),
            Part::Cudaforge => crates::against_cudaforge(workspace),
            Part::Whole => crates::whole(workspace),
            Part::CompileTime => compile_time::measure(workspace, &options.from),
        })?;
        write!(report, "\n## {}\n\n{section}", title(*part))?;
    }
    if options.only.is_some() {
        println!("\n{report}");
        return Ok(());
    }
    write(workspace, &format!("{set}.md"), &report)
}

/// Where the part of a page begins that people write: what is missed, and why.
const REMARKS: &str = "\n## What is missed";

/// Prints a report and writes it in place of the page's figures. The remarks after them stay.
fn write(workspace: &Workspace, name: &str, report: &str) -> Result<()> {
    println!("\n{report}");
    let folder = workspace.root.join("benches/results");
    std::fs::create_dir_all(&folder)?;
    let page = folder.join(name);
    let old = std::fs::read_to_string(&page).unwrap_or_default();
    std::fs::write(&page, format!("{report}{}", remarks(&old)))?;
    println!("written to {}", page.display());
    Ok(())
}

/// The remarks of a page, with the empty line before them.
fn remarks(page: &str) -> &str {
    page.find(REMARKS).map_or("", |start| &page[start..])
}

fn title(part: Part) -> &'static str {
    match part {
        Part::Builds => "Clean builds",
        Part::Rebuild => "Builds after an edit",
        Part::Code => "Code on sm_90 against nvcc",
        Part::Instructions => "Instructions that run against nvcc",
        Part::Launch => "Launches on the CPU",
        Part::Cudaforge => "candle-kernels against cudaforge 0.1.6",
        Part::Whole => "Whole crates through nvcc",
        Part::CompileTime => "Compile time",
    }
}

#[cfg(test)]
mod tests {
    use super::remarks;

    #[test]
    fn what_people_wrote_after_the_figures_stays() {
        assert_eq!(
            remarks("# Page\n\nfigures\n\n## What is missed, and why\n\ntext\n"),
            "\n## What is missed, and why\n\ntext\n"
        );
        assert_eq!(remarks("# Page\n\nfigures\n"), "");
    }
}
