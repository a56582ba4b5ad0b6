//! `cargo kernelmill tune`: runs the benchmark in which a package tunes kernels, and writes what is fastest to the
//! file that builds embed.
//!
//! The benchmark times and compares; see `kernelmill::tuning`. Here is what it reports, line by line, as a progress bar
//! and a chart.

mod report;

use crate::package::Selection;
use anyhow::{Context as _, Result, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kernelmill_build::tuning;
use report::{Line, Timing};
use serde_json::json;
use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::Stdio,
    time::SystemTime,
};

/// Which kernels, and for which sizes.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The kernels, by the names of their wrappers, and groups of kernels, by the names that the benchmark has for them.
    #[arg(required = true)]
    kernels: Vec<String>,
    /// Numbers of elements, with commas between them; in two and three dimensions as `1920x1080`. Without it
    /// 1024,65536,1048576; 64x64,256x256,1024x1024; or 16x16x16,64x64x64,128x128x128.
    #[arg(long, default_value = "", hide_default_value = true)]
    sizes: String,
    /// The benchmark that tunes it.
    #[arg(long, default_value = "tune")]
    bench: String,
    /// How often each launch is measured.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(3..=1000))]
    rounds: u32,
    /// What the benchmark has printed on another machine, in place of running it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sizes", "rounds", "bench"])]
    printed: Option<PathBuf>,
    #[command(flatten)]
    selection: Selection,
    /// Print JSON: the file that was written, and each launch with its time.
    #[arg(long)]
    json: bool,
}

impl Options {
    /// Whether a kernel or a group is asked for.
    fn has(&self, name: &str) -> bool {
        self.kernels.iter().any(|it| it == name)
    }
}

/// Runs the benchmark, shows what it measures, and writes the choices.
pub(crate) fn run(options: &Options) -> Result<()> {
    let folder =
        options.selection.folder()?.context("no package is selected: name one with `--package`")?;
    let file = folder.join(tuning::FILE);
    let old = read(&file)?;
    let is_new = old.is_none();
    let measured = match &options.printed {
        Some(printed) => {
            let text = fs::File::open(printed)
                .with_context(|| format!("cannot read {}", printed.display()))?;
            timings(options, BufReader::new(text))?
        }
        None => measure(options)?,
    };
    let is_missing = |name: &&String| measured.iter().all(|it| it.subject() != **name);
    let missing: Vec<_> = options.kernels.iter().filter(is_missing).collect();
    if !missing.is_empty() {
        let missing = missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
        let (missing, bench) = (missing.join(", "), &options.bench);
        bail!(
            "the benchmark `{bench}` does not tune {missing}: pass a kernel of this name to `Tuner::tune` in it, or a \
             group to `Tuner::tune_group`, or correct the name; nothing is written"
        );
    }
    if !options.json {
        print!("{}", report::chart(&measured));
    }
    let new = measured.iter().filter(|it| it.is_chosen).map(Timing::choice);
    let text = tuning::write(old.unwrap_or_default().into_iter().chain(new));
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    if is_new {
        // The last build did not know of the file, and watches this one.
        let manifest = fs::File::options().append(true).open(folder.join("Cargo.toml"))?;
        manifest.set_modified(SystemTime::now())?;
    }
    if options.json {
        let launches: Vec<_> = measured.iter().map(Timing::as_json).collect();
        println!("{:#}", json!({ "file": file, "launches": launches }));
    } else {
        println!("written to {}; commit it, and build again", file.display());
    }
    Ok(())
}

/// What the file has, `None` where there is none.
fn read(file: &Path) -> Result<Option<Vec<tuning::Choice>>> {
    if !file.exists() {
        return Ok(None);
    }
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    match tuning::read(&text) {
        Ok(choices) => Ok(Some(choices)),
        Err(faults) => bail!("{}\ncorrect or remove {}", faults.join("\n"), file.display()),
    }
}

/// Runs the benchmark; what it prints besides is printed.
fn measure(options: &Options) -> Result<Vec<Timing>> {
    let Options { kernels, sizes, bench, rounds, selection, .. } = options;
    let mut command = selection.command("bench")?;
    command.args(["--bench", bench]);
    command.env("KERNELMILL_TUNE", kernels.join(",")).env("KERNELMILL_TUNE_SIZES", sizes);
    command.env("KERNELMILL_TUNE_ROUNDS", rounds.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().context("cargo cannot be started")?;
    let printed = child
        .stdout
        .take()
        .context("internal error of kernelmill: cargo's output is not piped; please report it")?;
    let measured = timings(options, BufReader::new(printed))?;
    if !child.wait()?.success() {
        bail!("the benchmark `{bench}` failed; nothing is written");
    }
    Ok(measured)
}

/// What a benchmark prints of the kernels and groups that are asked for, with a progress bar.
fn timings(options: &Options, printed: impl BufRead) -> Result<Vec<Timing>> {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")?);
    let mut measured = Vec::new();
    for line in printed.lines() {
        let line = line?;
        match Line::read(&line) {
            Some(Line::Progress { done, all, what }) => {
                bar.set_length(all);
                bar.set_position(done);
                bar.set_message(what);
            }
            Some(Line::Time(timing)) if options.has(timing.subject()) => measured.push(timing),
            Some(Line::Time(_)) => {}
            // JSON is all that the standard output has.
            None if options.json => bar.suspend(|| eprintln!("{line}")),
            None => bar.suspend(|| println!("{line}")),
        }
    }
    bar.finish_and_clear();
    Ok(measured)
}
