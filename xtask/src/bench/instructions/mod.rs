//! Instructions that run: kernels in Rust and the same in CUDA C++ by nvcc, as PTX on the emulator, with the same
//! inputs.
//!
//! PTX is not what a GPU runs: ptxas makes its own code of it. It is what a front end and its optimiser have a hand in,
//! and what can be counted without a GPU.

mod cases;
mod checks;
mod side;

use super::code::{KERNELS, nvcc_files, nvcc_version, our_files};
use crate::workspace::Workspace;
use anyhow::{Context as _, Result, ensure};
use cases::{Case, case};
use side::{Count, Side};
use std::{fmt::Write as _, path::PathBuf};

/// Runs both sides of every kernel, compares what they compute, and counts.
pub(super) fn measure(workspace: &Workspace) -> Result<String> {
    let ours = texts(our_files(workspace, "ptx")?)?;
    let theirs = texts(nvcc_files(workspace, "ptx")?)?;
    let mut text = String::from(
        "| kernel | PTX instructions a thread, ours / nvcc | ratio | for checks alone | ratio without |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    let (mut all, mut without) = (0.0, 0.0);
    for (kernel, _) in KERNELS {
        let case = case(kernel).with_context(|| format!("{kernel} has no inputs"))?;
        let [a, b] = both(&case, [&ours, &theirs])?;
        let per_thread = |count: u64| count as f64 / case.threads() as f64;
        let ratio = a.all as f64 / b.all as f64;
        let bare = (a.all - a.checks) as f64 / b.all as f64;
        all += ratio.ln();
        without += bare.ln();
        writeln!(
            text,
            "| {kernel} | {:.1} / {:.1} | {ratio:.2} | {:.1} | {bare:.2} |",
            per_thread(a.all),
            per_thread(b.all),
            per_thread(a.checks),
        )?;
    }
    let count = KERNELS.len() as f64;
    writeln!(
        text,
        "\nGeometric means: {:.3} times nvcc's, {:.3} without what runs for checks alone (aim: 1.05). Both sides have \
         computed the same. Instructions for checks alone are the branches to panics, and what nothing but those \
         uses: comparisons, lengths. nvcc checks nothing. nvcc {}.",
        (all / count).exp(),
        (without / count).exp(),
        nvcc_version(workspace)?,
    )?;
    Ok(text)
}

/// What both sides run for a case, once they have computed the same.
fn both(case: &Case, texts: [&[String]; 2]) -> Result<[Count; 2]> {
    let sides = texts.map(|texts| Side::find(texts, case.kernel));
    let [ours, theirs] = sides;
    let (a, of_ours) = ours?.run(case)?;
    let (b, of_theirs) = theirs?.run(case)?;
    ensure!(b.checks == 0, "nvcc's {} checks something", case.kernel);
    case.compare(&of_ours, &of_theirs)?;
    Ok([a, b])
}

fn texts(files: Vec<PathBuf>) -> Result<Vec<String>> {
    let read = |path: &PathBuf| {
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
    };
    files.iter().map(read).collect()
}
