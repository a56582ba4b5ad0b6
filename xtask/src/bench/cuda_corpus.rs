//! Kernels of public suites on an NVIDIA GPU, as nvcc and as clang with kernelmill compile them: `benches/cpu-corpus --cuda`.

use super::corpus;
use crate::workspace::{Workspace, stage};
use anyhow::{Context as _, Result, ensure};
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

/// The compilers of the kernels; each has a program of its own.
const COMPILERS: [&str; 2] = ["nvcc", "clang"];

/// Below so many microseconds with either compiler, a time is mostly one of launches.
const SHORT: f64 = 5.0;

/// How the figures come about, for the page.
const METHOD: &str = "\
Both programs have the kernels that `cargo xtask bench corpus` runs on the CPU (`benches/results/cpu-corpus.md` says how they were chosen), with
the same inputs and launches, some of them small for a GPU: as the suites have them, or smaller. `nvcc` is NVIDIA's compiler alone, `clang` is clang's
front end and kernelmill's pipeline, whose PTX NVIDIA's `ptxas` assembles; both for `sm_90`, both fuse multiplications with additions. Every output of
every kernel is compared with that of plain loops in C on the processor of that machine; the differences allowed are those of the CPU, with integers
equal.

A time is the median of up to 31 launches in a row, after three that do not count, each between two events. Before each one the buffers that
it writes are filled again on the device, which is not timed. All is queued before the first one begins, so that the device waits for no host, and what
kernels read is often in its cache. The distance of two events is part of each time.
";

/// Builds the programs, and runs them on the GPU of this machine, or takes what they have printed on another one, which is in
/// `nvcc.txt` and `clang.txt` of a folder.
pub(super) fn measure(
    workspace: &Workspace,
    from: &[String],
    printed: Option<&Path>,
) -> Result<String> {
    let mut texts = Vec::new();
    for compiler in COMPILERS {
        texts.push(match printed {
            Some(folder) => read(&folder.join(format!("{compiler}.txt")))?,
            None => run(workspace, &build(workspace, from, compiler)?)?,
        });
    }
    Ok(format!("{METHOD}\n{}", compare(&texts[0], &texts[1])?))
}

/// Builds the program with the kernels by one compiler. It needs no files.
pub(crate) fn build(workspace: &Workspace, from: &[String], compiler: &str) -> Result<PathBuf> {
    let suites = corpus::suites(workspace, from)?;
    let arguments = ["build", "--release", "--config", "profile.release.strip=true"];
    let arguments =
        workspace.cargo(&arguments).args(["--package", "cpu-corpus", "--features", "cuda"]);
    let build = arguments.envs(suites).env("KERNELMILL_CUDA_COMPILER", compiler);
    // Not for the CPU, whose code takes longest.
    let build = build.env("KERNELMILL_TARGETS", "compute_75,sm_90");
    stage(&format!("build with {compiler}"), || Ok(build.run()?))?;
    let built = workspace.target.join(format!("cuda-corpus/{compiler}"));
    fs::create_dir_all(workspace.target.join("cuda-corpus"))?;
    fs::copy(workspace.target.join("release/cpu-corpus"), &built)?;
    Ok(built)
}

/// Runs a program, which ends with an error where a kernel is wrong: its table says which.
fn run(workspace: &Workspace, program: &Path) -> Result<String> {
    stage("measure", || Ok(workspace.shell.cmd(program).arg("--cuda").ignore_status().read()?))
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("open {}", path.display()))
}

/// A row of what a program prints: microseconds where it was right, else what was wrong.
type Rows<'t> = Vec<([&'t str; 3], Result<f64, &'t str>)>;

/// What is said before the table, and its rows.
fn rows(text: &str) -> Result<(&str, Rows<'_>)> {
    let mut rows = Vec::new();
    for line in text.lines().filter(|it| it.starts_with("| `")) {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [name, file, launch, time, result] = *cells else {
            anyhow::bail!("a row has other columns: {line}");
        };
        let time = time.parse().map_err(|_| result);
        rows.push(([name, file, launch], time));
    }
    let heading = text.split("\n| kernel").next().unwrap_or_default().trim();
    ensure!(!rows.is_empty(), "there are no rows after: {heading}");
    Ok((heading, rows))
}

/// A table of both, with the geometric mean of the ratios.
fn compare(nvcc: &str, clang: &str) -> Result<String> {
    let ((nvcc_heading, nvcc), (clang_heading, clang)) = (rows(nvcc)?, rows(clang)?);
    let clang: BTreeMap<_, _> = clang.into_iter().collect();
    let mut table = format!("{nvcc_heading}\n\n{clang_heading}\n\n");
    table += "| kernel | file | grid x block | nvcc, us | clang, us | clang / nvcc |\n";
    table += "| --- | --- | --- | --- | --- | --- |\n";
    let (mut long, mut all, mut wrong) = (Vec::new(), Vec::new(), 0);
    for (row, by_nvcc) in nvcc {
        let by_clang = *clang.get(&row).with_context(|| format!("clang has no row {}", row[0]))?;
        let ratio = match (by_nvcc, by_clang) {
            (Ok(by_nvcc), Ok(by_clang)) => {
                let ratio = by_clang / by_nvcc;
                all.push(ratio);
                if by_nvcc.max(by_clang) >= SHORT {
                    long.push(ratio);
                }
                format!("{ratio:.2}")
            }
            _ => {
                wrong += 1;
                String::new()
            }
        };
        let [by_nvcc, by_clang] = [by_nvcc, by_clang].map(|it| match it {
            Ok(time) => format!("{time:.2}"),
            Err(what) => what.to_owned(),
        });
        let [name, file, launch] = row;
        writeln!(table, "| {name} | {file} | {launch} | {by_nvcc} | {by_clang} | {ratio} |")?;
    }
    let counts = |of: &[f64]| {
        let mean = (of.iter().map(|it| it.ln()).sum::<f64>() / of.len().max(1) as f64).exp();
        let slower = of.iter().filter(|it| **it > 1.1).count();
        let faster = of.iter().filter(|it| **it < 0.9).count();
        format!(
            "{} kernels: geometric mean {mean:.2}, {slower} over 1.1, {faster} below 0.9",
            of.len()
        )
    };
    writeln!(table, "\nRatios of all {};", counts(&all))?;
    writeln!(
        table,
        "of those that take at least {SHORT} us with either compiler, {}.",
        counts(&long)
    )?;
    writeln!(table, "{wrong} kernels have no ratio.")?;
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::compare;

    fn printed(compiler: &str, first: &str, second: &str) -> String {
        format!(
            "Kernels by {compiler}.\n\n| kernel | file | grid x block | us | result |\n| --- | --- | --- | --- | --- |\n\
             | `one` | a.cu | [1] x [2] | {first} |\n| `two` | b.cu | [1, 2] x [2, 2] | {second} |\n\n2 kernels\n"
        )
    }

    #[test]
    fn rows_of_both_are_side_by_side() {
        let nvcc = printed("nvcc", "10.00 | right", "2.00 | right");
        let table = compare(&nvcc, &printed("clang", "20.00 | right", "1.00 | right")).unwrap();
        assert!(table.starts_with("Kernels by nvcc.\n\nKernels by clang.\n\n| kernel"), "{table}");
        assert!(table.contains("| `one` | a.cu | [1] x [2] | 10.00 | 20.00 | 2.00 |\n"), "{table}");
        assert!(
            table.contains("all 2 kernels: geometric mean 1.00, 1 over 1.1, 1 below 0.9;"),
            "{table}"
        );
        assert!(
            table.contains("either compiler, 1 kernels: geometric mean 2.00, 1 over"),
            "{table}"
        );
        assert!(table.contains("\n0 kernels have no ratio."), "{table}");
    }

    #[test]
    fn a_row_that_is_wrong_has_no_ratio() {
        let nvcc = printed("nvcc", "10.00 | right", "2.00 | right");
        let table = compare(&nvcc, &printed("clang", " | wrong by 2", "2.00 | right")).unwrap();
        assert!(table.contains("| 10.00 | wrong by 2 |  |\n"), "{table}");
        assert!(table.contains("all 1 kernels: geometric mean 1.00"), "{table}");
        assert!(table.contains("\n1 kernels have no ratio."), "{table}");
        assert!(compare(&nvcc, "Kernels by clang.").is_err());
    }
}
