//! The time that the files of the corpus take to compile for the CPU, against nvcc's for one architecture.
//!
//! Both are in processor seconds, user and system, of all processes that take part, so that other work on the machine
//! hardly changes them. `benches/compile-time` measures kernelmill's in a build script, as users run it.

use super::corpus;
use crate::workspace::{Workspace, stage};
use anyhow::{Context as _, Result, ensure};
use std::{
    fmt::Write as _,
    fs,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

/// A file of the corpus, with the macros that it is compiled with.
struct Source {
    file: &'static str,
    define: &'static [(&'static str, &'static str)],
}

include!("../../../benches/cpu-corpus/sources.rs");

/// Files of the suites that the CPU took the longest to compile, and that the corpus does not run.
const LONG: &[Source] = &[
    Source { file: "hecbench/src/hadamard-cuda/main.cu", define: &[] },
    Source { file: "hecbench/src/prna-cuda/prna.cu", define: &[("FLOAT", "1")] },
];

/// The processor of NVIDIA's that nvcc compiles for.
const ARCHITECTURE: &str = "sm_80";

/// The most that one file may take of nvcc's time.
const AIM: f64 = 2.0;

/// A macro of the corpus that the headers of CUDA have for a parameter, and that no kernel uses.
const NOT_FOR_NVCC: &str = "N";

/// A function that CUDA 13 has no longer, as a macro of the one in its place.
const REPLACED: &str = "-DcudaThreadSynchronize=cudaDeviceSynchronize";

/// What a file takes, in processor seconds.
struct Row {
    file: &'static str,
    own: f64,
    /// `None` where nvcc refuses the file.
    nvcc: Option<f64>,
}

/// Compiles each file once by kernelmill, with the store turned off, and once by nvcc.
pub(super) fn measure(workspace: &Workspace, from: &[String]) -> Result<String> {
    let folders = corpus::folders(workspace, from)?;
    // What is compiled once for all files is none of their time.
    stage("build", || own(workspace, Path::new(""), &[]))?;
    let mut rows = Vec::new();
    for source in SOURCES.iter().chain(LONG) {
        let (suite, path) = source.file.split_once('/').context("a suite and a path")?;
        let folder = folders.iter().find(|(name, _)| *name == suite);
        let file = folder.context("a suite of the corpus")?.1.join(path);
        let own = own(workspace, &file, source.define)?;
        let nvcc = nvcc(workspace, &file, source.define)?;
        println!("{}: {own:.2} s, nvcc {nvcc:.2?}", source.file);
        rows.push(Row { file: source.file, own, nvcc });
    }
    table(rows)
}

/// Kernelmill's time for a file.
fn own(workspace: &Workspace, file: &Path, define: &[(&str, &str)]) -> Result<f64> {
    let define: Vec<_> = define.iter().map(|(name, value)| format!("{name}={value}")).collect();
    // Another value than in the last run, so that Cargo runs the build script.
    let run = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
    let command = workspace.cargo(&["run", "--quiet", "--package", "compile-time"]);
    let command = command
        .env("KERNELMILL_CACHE", "off")
        .env("COMPILE_TIME_FILE", file)
        .env("COMPILE_TIME_DEFINE", define.join(";"))
        .env("COMPILE_TIME_RUN", run.to_string());
    let printed = command.quiet().ignore_stderr().read();
    let printed = printed.with_context(|| format!("compile {} for the CPU", file.display()))?;
    printed.trim().parse().with_context(|| format!("seconds in `{printed}`"))
}

/// nvcc's time for a file: all that it does for a binary of device code; `None` where it refuses the file.
fn nvcc(workspace: &Workspace, file: &Path, define: &[(&str, &str)]) -> Result<Option<f64>> {
    let program = workspace.cuda_program("nvcc")?;
    let object = workspace.temporary_file()?;
    let define = define.iter().filter(|(name, _)| *name != NOT_FOR_NVCC);
    let define = define.map(|(name, value)| format!("-D{name}={value}"));
    let command = workspace.shell.cmd(program).arg(format!("-arch={ARCHITECTURE}"));
    let command = command.args(["-cubin", "-w", REPLACED, "-o"]).arg(object.path());
    let command = command.args(define).arg(file).quiet().ignore_stderr().ignore_stdout();
    let before = children_seconds()?;
    let is_compiled = command.ignore_status().output()?.status.success();
    let seconds = children_seconds()? - before;
    Ok(is_compiled.then_some(seconds))
}

/// Processor seconds that the children of this process have used so far, those that have ended.
fn children_seconds() -> Result<f64> {
    let text = fs::read_to_string("/proc/self/stat")?;
    // The name of the program comes second, in parentheses. `cutime` and `cstime` are fields 16 and 17, in hundredths.
    let (_, numbers) = text.rsplit_once(')').context("a line of /proc/self/stat")?;
    let ticks: Result<Vec<f64>, _> =
        numbers.split_whitespace().skip(13).take(2).map(str::parse).collect();
    Ok(ticks?.iter().sum::<f64>() / 100.0)
}

/// The rows, the longest for nvcc's time first, with their geometric mean.
fn table(mut rows: Vec<Row>) -> Result<String> {
    let refused: Vec<_> = rows.extract_if(.., |row| row.nvcc.is_none()).collect();
    ensure!(!rows.is_empty(), "there are no files");
    rows.sort_by(|one, other| other.ratio().total_cmp(&one.ratio()));
    let mut text = String::from(
        "| file | ours, processor seconds | nvcc's | ours / nvcc's |\n| --- | --- | --- | --- |\n",
    );
    let (mut own, mut nvcc) = (0.0, 0.0);
    for row in &rows {
        (own, nvcc) = (own + row.own, nvcc + row.of_nvcc());
        let (seconds, ratio) = (row.of_nvcc(), row.ratio());
        writeln!(text, "| {} | {:.2} | {seconds:.2} | {ratio:.2} |", row.file, row.own)?;
    }
    for Row { file, own, .. } in &refused {
        writeln!(text, "| {file} | {own:.2} | refused | - |")?;
    }
    let mean = (rows.iter().map(|row| row.ratio().ln()).sum::<f64>() / rows.len() as f64).exp();
    let over = rows.iter().filter(|row| row.ratio() > AIM).count();
    writeln!(
        text,
        "\n{} files, {own:.1} s against {nvcc:.1} s. The geometric mean of the ratios is {mean:.2}; {over} are over {AIM}.\n\
         `nvcc -arch={ARCHITECTURE} -cubin` against a build script, not optimised, as Cargo builds them, for the target `cpu`, \
         with the store turned off. Processor seconds, user and system, of all processes that take part.",
        rows.len(),
    )?;
    Ok(text)
}

impl Row {
    fn ratio(&self) -> f64 {
        self.own / self.of_nvcc()
    }

    fn of_nvcc(&self) -> f64 {
        self.nvcc.unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_mean_of_ratios_and_the_worst_file_first() {
        let row = |file, own, nvcc| Row { file, own, nvcc };
        let rows =
            vec![row("a.cu", 1.0, Some(1.0)), row("b.cu", 8.0, Some(2.0)), row("c.cu", 3.0, None)];
        let text = table(rows).unwrap();
        let expected = "| b.cu | 8.00 | 2.00 | 4.00 |\n| a.cu | 1.00 | 1.00 | 1.00 |\n| c.cu | 3.00 | refused | - |";
        assert!(text.contains(expected), "{text}");
        let expected =
            "2 files, 9.0 s against 3.0 s. The geometric mean of the ratios is 2.00; 1 are over 2.";
        assert!(text.contains(expected), "{text}");
        assert!(table(Vec::new()).is_err());
    }
}
