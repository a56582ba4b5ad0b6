//! Kernels of public suites on an NVIDIA GPU, as nvcc and as clang with kernelmill compile them: `benches/cpu-corpus --cuda`.

use super::corpus;
use crate::workspace::{Workspace, stage};
use anyhow::{Context as _, Result};
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
The kernels of public suites are those that `cargo xtask bench corpus` runs on the CPU ([how they were chosen](cpu-corpus.md)), with
the same inputs and launches, some of them small for a GPU: as the suites have them, or smaller. `nvcc` is NVIDIA's compiler alone, `clang` is clang's
front end and kernelmill's pipeline, whose PTX NVIDIA's `ptxas` assembles; both for `sm_90`, both fuse multiplications with additions. Every output of
every kernel is compared with that of plain loops in C on the processor of that machine; the differences allowed are those on the CPU,
and integers are equal.

A time is the median of up to 31 launches in a row, after three that do not count, each between two events. Before each one the buffers that
it writes are filled again on the device, which is not timed. All is queued before the first one begins, so that the device waits for no host, and what
kernels read is often in its cache. The distance of two events is part of each time.
";

/// The packages with kernels, what their programs are called, and what the page says of the kernels.
const PACKAGES: [(&str, &str, &str); 2] = [
    ("cpu-corpus", "", "Kernels of public suites"),
    ("cpu-untuned", "untuned-", "Kernels of `benches/cpu-untuned`"),
];

/// Builds the programs, and runs them on the GPU of this machine, or takes what they have printed on another one, which is in
/// `nvcc.txt`, `clang.txt`, `untuned-nvcc.txt` and `untuned-clang.txt` of a folder.
pub(super) fn measure(
    workspace: &Workspace,
    from: &[String],
    printed: Option<&Path>,
) -> Result<String> {
    let programs = match printed {
        Some(_) => Vec::new(),
        None => programs(workspace, from)?,
    };
    let mut page = METHOD.to_owned();
    for (_, prefix, title) in PACKAGES {
        let texts = COMPILERS.map(|compiler| {
            let name = format!("{prefix}{compiler}");
            match printed {
                Some(folder) => read(&folder.join(format!("{name}.txt"))),
                None => {
                    let program = programs.iter().find(|it| it.ends_with(&name));
                    run(workspace, program.context("it was built")?)
                }
            }
        });
        let [nvcc, clang] = texts;
        write!(page, "\n## {title}\n\n{}", compare(&nvcc?, &clang?)?)?;
    }
    Ok(page)
}

/// Builds the programs with the kernels by each compiler, `target/cuda-corpus/nvcc` and so on. They need no files.
pub(crate) fn programs(workspace: &Workspace, from: &[String]) -> Result<Vec<PathBuf>> {
    let suites = corpus::suites(workspace, from)?;
    let folder = workspace.target.join("cuda-corpus");
    fs::create_dir_all(&folder)?;
    let mut programs = Vec::new();
    for ((package, prefix, _), compiler) in
        PACKAGES.iter().flat_map(|it| COMPILERS.map(|compiler| (it, compiler)))
    {
        let build = ["build", "--release", "--config", "profile.release.strip=true"];
        let build = workspace.cargo(&build).args(["--package", package, "--features", "cuda"]);
        let build = build.envs(suites.clone()).env("KERNELMILL_CUDA_COMPILER", compiler);
        // Not for the CPU, whose code takes longest.
        let build = build.env("KERNELMILL_TARGETS", "compute_75,sm_90");
        stage(&format!("{package} by {compiler}"), || Ok(build.run()?))?;
        let program = folder.join(format!("{prefix}{compiler}"));
        fs::copy(workspace.target.join("release").join(package), &program)?;
        programs.push(program);
    }
    Ok(programs)
}

/// Runs a program, which ends with an error where a kernel is wrong: its table says which.
fn run(workspace: &Workspace, program: &Path) -> Result<String> {
    stage("measure", || Ok(workspace.shell.cmd(program).arg("--cuda").ignore_status().read()?))
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("open {}", path.display()))
}

/// What a program prints.
struct Printed<'t> {
    /// What it says before the table.
    heading: &'t str,
    /// The columns before the time.
    columns: &'t str,
    /// These columns of each row, and microseconds where it was right, else what was wrong.
    rows: Vec<(&'t str, Result<f64, &'t str>)>,
}

impl<'t> Printed<'t> {
    fn read(text: &'t str) -> Result<Self> {
        let (heading, table) = text.split_once("\n| kernel").context("there is no table")?;
        let mut lines = table.lines().skip(2).map_while(|it| it.strip_suffix(" |")).map(cells);
        let rows = lines.by_ref().collect::<Result<Vec<_>>>()?;
        let rows = rows.into_iter();
        let rows = rows.map(|(of, time, result)| (of, time.parse().map_err(|_| result))).collect();
        let columns = table.lines().next().and_then(|it| it.strip_suffix(" | us | result |"));
        let columns = columns.context("the table has other columns")?;
        Ok(Self { heading: heading.trim(), columns, rows })
    }
}

/// The columns before the time, the time and the result of a row without its end.
fn cells(row: &str) -> Result<(&str, &str, &str)> {
    let (rest, result) = row.rsplit_once('|').with_context(|| format!("a row is `{row}`"))?;
    let (of, time) =
        rest.trim_end().rsplit_once('|').with_context(|| format!("a row is `{row}`"))?;
    Ok((of.trim(), time.trim(), result.trim()))
}

/// A table of both, with the geometric mean of the ratios.
fn compare(nvcc: &str, clang: &str) -> Result<String> {
    let (nvcc, clang) = (Printed::read(nvcc)?, Printed::read(clang)?);
    let by_name: BTreeMap<_, _> = clang.rows.into_iter().collect();
    let columns = nvcc.columns;
    let mut table = format!("{}\n\n{}\n\n", nvcc.heading, clang.heading);
    writeln!(table, "| kernel{columns} | nvcc, us | clang, us | clang / nvcc |")?;
    writeln!(table, "|{}", " --- |".repeat(columns.matches('|').count() + 4))?;
    let (mut long, mut all, mut wrong) = (Vec::new(), Vec::new(), 0);
    for (row, by_nvcc) in nvcc.rows {
        let by_clang = *by_name.get(row).with_context(|| format!("clang has no row {row}"))?;
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
        writeln!(table, "{row} | {by_nvcc} | {by_clang} | {ratio} |")?;
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
