//! `benches/results/gpu.md`: what the bundle printed on a machine with a GPU, as one page.

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

/// What the page begins with, before the machine's own words.
const HEAD: &str = "\
# Kernels on an NVIDIA GPU

```sh
cargo xtask gpu                          # here: builds target/gpu-bundle.tar.xz
tar xf gpu-bundle.tar.xz && gpu-bundle/run.sh results    # there: needs a driver, and nothing else
cargo xtask gpu --results results        # here: writes this page
```
";

/// How the times of kernels come about.
const METHOD: &str = "\
A time is the median of 15 times of 20 launches in a row by the typed wrapper, of which the host waits for the last one; `spread` is the
longest of them over the shortest. `nvcc` is the same program with the PTX that nvcc makes of the same kernel in CUDA C++
(`benches/spine/nvcc`) in place of ours, assembled by the same ptxas for `sm_90`. nvcc's code checks no index, ours checks those that are not
proven. Results are compared with the CPU's on smaller inputs before. The bytes are what a launch has to read and write at least once; `of copy`
is their rate over that of a copy on the device in the same run.
";

/// What is read of `gpu.json`.
#[derive(Deserialize)]
pub(super) struct Report {
    pub(super) device: String,
    pub(super) rows: Vec<Row>,
}

/// A kernel.
#[derive(Deserialize)]
pub(super) struct Row {
    kernel: String,
    pub(super) failure: Option<String>,
    relative_error: Option<f64>,
    microseconds: Option<f64>,
    spread: Option<f64>,
    gigabytes_per_second: Option<f64>,
    gigaflops: Option<f64>,
}

impl Report {
    /// Reads what `gpu-suite` has written.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    }
}

/// The row of the copy on the device.
const COPY: &str = "(copy on the device)";

/// The page, of the folder that `run.sh` has written.
pub(super) fn page(folder: &Path, date: &str) -> Result<String> {
    let [ours, theirs] = ["gpu.json", "gpu-nvcc.json"].map(|name| Report::read(&folder.join(name)));
    let (ours, theirs) = (ours?, theirs?);
    ensure!(ours.device == theirs.device, "{} is not {}", ours.device, theirs.device);
    let read = |name: &str| fs::read_to_string(folder.join(name)).with_context(|| name.to_owned());
    let (machine, steps) = (read("machine.txt")?, read("steps.txt")?);
    let failed = steps.lines().filter(|line| line.contains("FAILED")).count();
    let mut text = format!("{HEAD}\n{date}: {}.\n\n", machine.trim().replace('\n', "; "));
    writeln!(text, "{METHOD}\n{}", table(&ours, &theirs)?)?;
    writeln!(text, "## What ran\n\n{} steps, {failed} failed:\n", steps.lines().count())?;
    writeln!(text, "```text\n{}\n```", steps.trim())?;
    Ok(text)
}

fn table(ours: &Report, theirs: &Report) -> Result<String> {
    let times = |report: &Report| -> BTreeMap<String, f64> {
        let rows = report.rows.iter();
        rows.filter_map(|row| Some((row.kernel.clone(), row.microseconds?))).collect()
    };
    let of_nvcc = times(theirs);
    let copy = ours.rows.iter().find(|row| row.kernel == COPY);
    let copy = copy.and_then(|row| row.gigabytes_per_second).context("the copy was timed")?;
    let mut text = String::from(
        "| kernel | relative error | µs | spread | nvcc, µs | ours / nvcc | GB/s | of copy | GFLOP/s |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let (mut sum, mut count) = (0.0, 0);
    for row in &ours.rows {
        let Some(time) = row.microseconds else { continue };
        let kernel = &row.kernel;
        let nvcc = of_nvcc.get(kernel).filter(|_| is_in_cpp(kernel));
        let (theirs, ratio) = match nvcc {
            Some(theirs) => {
                sum += (time / theirs).ln();
                count += 1;
                (format!("{theirs:.1}"), format!("{:.2}", time / theirs))
            }
            None => (String::new(), String::new()),
        };
        let shown = |value: Option<f64>| value.map_or(String::new(), |it| format!("{it:.0}"));
        let share =
            row.gigabytes_per_second.map_or(String::new(), |it| format!("{:.2}", it / copy));
        writeln!(
            text,
            "| {kernel} | {:.1e} | {time:.1} | {:.2} | {theirs} | {ratio} | {} | {share} | {} |",
            row.relative_error.unwrap_or(f64::NAN),
            row.spread.unwrap_or(f64::NAN),
            shown(row.gigabytes_per_second),
            shown(row.gigaflops),
        )?;
    }
    ensure!(count > 0, "nothing was timed on both sides");
    let mean = (sum / f64::from(count)).exp();
    writeln!(text, "\nGeometric mean of the ratios to nvcc's: {mean:.3}, of {count} kernels.")?;
    Ok(text)
}

/// Whether there is the same kernel in CUDA C++.
fn is_in_cpp(kernel: &str) -> bool {
    crate::bench::KERNELS.iter().any(|(name, _)| *name == kernel)
}
