//! Runs every kernel of examples and tests on a GPU, compares with the CPU, times, and writes one
//! JSON file and one Markdown table.

use clap::Parser;
use gpu_suite::{Effort, run};
use kernelmill::Device;
use std::{error::Error, fs, path::PathBuf, process::ExitCode};

/// Runs every kernel on the first NVIDIA GPU, compares with the CPU, and times.
#[derive(Parser)]
struct Arguments {
    /// The file for all figures.
    #[arg(long)]
    json: Option<PathBuf>,
    /// The file for the table.
    #[arg(long)]
    markdown: Option<PathBuf>,
    /// Compare only, on small inputs.
    #[arg(long)]
    compare: bool,
    /// The only kernel to run.
    #[arg(long)]
    only: Option<String>,
}

fn main() -> Result<ExitCode, Box<dyn Error + Send + Sync>> {
    let arguments = Arguments::parse();
    let device = Device::cuda(0)?;
    let effort = if arguments.compare { Effort::Compare } else { Effort::Time };
    let report = run(&device, effort, arguments.only.as_deref())?;
    if let Some(path) = arguments.json {
        fs::write(path, report.json())?;
    }
    if let Some(path) = arguments.markdown {
        fs::write(path, report.markdown())?;
    }
    println!("{}", report.markdown());
    let failed = report.rows.iter().filter(|row| row.failure.is_some()).count();
    println!("{} kernels, {failed} wrong", report.rows.len());
    if report.rows.is_empty() {
        return Err("there is no such kernel".into());
    }
    Ok(if report.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
