//! `cargo kernelmill build`: builds a package, shows the progress of its kernels, and says what took long.
//!
//! Cargo passes on what a build script prints only at its end. So the build scripts write their progress into a
//! [trace](kernelmill_artifact::TraceFile) of their own, which is read while Cargo runs.

mod bars;
mod events;
mod timings;

use crate::package::Selection;
use anyhow::{Context as _, Result};
use bars::Bars;
use events::Events;
use serde_json::json;
use std::{
    env,
    ffi::OsString,
    fs,
    io::{BufRead as _, BufReader, IsTerminal as _},
    path::{Path, PathBuf},
    process::{Command, ExitCode, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

/// How many of the slowest units are named.
const SLOWEST: usize = 5;
/// How often the progress is read.
const PAUSE: Duration = Duration::from_millis(100);

/// When Cargo writes in colour.
const COLOR: &str = "CARGO_TERM_COLOR";

/// Which package, and how.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    selection: Selection,
    /// Build with optimisations, as `cargo build --release` does.
    #[arg(long)]
    release: bool,
    /// Write a page of HTML with a timeline of what each thread did.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "kernelmill-timings.html"
    )]
    timings: Option<PathBuf>,
    /// Print JSON: each unit with its source, target, thread, start and seconds.
    #[arg(long)]
    json: bool,
    /// Arguments of `cargo build`, behind `--`.
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

/// Runs the build; ends as Cargo does.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let file = folder.path().join("progress.json");
    let mut command = options.selection.command("build")?;
    if options.release {
        command.arg("--release");
    }
    command.args(&options.arguments);
    command.env("KERNELMILL_PROGRESS_FILE", &file).env("KERNELMILL_PROGRESS", "never");
    let start = Instant::now();
    let status = watch(command, &file)?;
    let took = start.elapsed();
    let events = Events::read(&file)?;
    if let Some(page) = &options.timings {
        let text = timings::render(&events, took)?;
        fs::write(page, text).with_context(|| format!("cannot write {}", page.display()))?;
    }
    if options.json {
        println!("{:#}", as_json(&events, took, status.success()));
    } else {
        summary(&events, took, status.success());
        options
            .timings
            .iter()
            .for_each(|page| println!("the page of times is written to {}", page.display()));
    }
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs Cargo, with bars where there is a terminal for them.
fn watch(mut command: Command, file: &Path) -> Result<ExitStatus> {
    if !std::io::stderr().is_terminal() {
        return command.stdout(Stdio::null()).status().context("cargo cannot be started");
    }
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    // Cargo sees no terminal, and is told of it where the user has not said what to do.
    if !["NO_COLOR", COLOR].iter().any(|it| env::var_os(it).is_some_and(|it| !it.is_empty())) {
        command.env(COLOR, "always");
    }
    let mut child = command.spawn().context("cargo cannot be started")?;
    let said = child.stderr.take().context(
        "internal error of kernelmill: cargo's standard error is not piped; please report it",
    )?;
    let mut bars = Bars::new()?;
    let lines = bars.lines();
    let forwarder = thread::spawn(move || {
        BufReader::new(said).lines().map_while(Result::ok).for_each(|line| lines.print(&line));
    });
    let status = loop {
        // A file that is not there yet has no events.
        bars.show(&Events::read(file).unwrap_or_default());
        if let Some(status) = child.try_wait()? {
            break status;
        }
        thread::sleep(PAUSE);
    };
    // It ends with Cargo's end of the pipe.
    let _ = forwarder.join();
    bars.finish();
    Ok(status)
}

/// Prints what was made, and what took longest.
fn summary(events: &Events, took: Duration, is_success: bool) {
    let end = if is_success { "built" } else { "failed" };
    let seconds = took.as_secs_f64();
    if events.packages.is_empty() {
        println!("{end} in {seconds:.1} s: no kernel had to be built again");
        return;
    }
    let (made, stored) = (events.made(), events.stored);
    println!("{end} in {seconds:.1} s: {made} binaries compiled, {stored} from the store");
    let mut units: Vec<_> = events.units().collect();
    units.sort_by(|one, other| other.took.total_cmp(&one.took));
    if !units.is_empty() {
        println!("slowest:");
    }
    for unit in units.into_iter().take(SLOWEST) {
        println!("  {:>6.2} s  {}", unit.took / 1e6, unit.subject());
    }
}

fn as_json(events: &Events, took: Duration, is_success: bool) -> serde_json::Value {
    let begin = events.begin();
    let units: Vec<_> = events
        .finished
        .iter()
        .map(|unit| {
            json!({
                "package": events.package(unit),
                "stage": unit.category,
                "name": unit.name,
                "target": unit.target,
                "process": unit.thread.0,
                "thread": unit.thread.1,
                "start": (unit.start - begin) / 1e6,
                "seconds": unit.took / 1e6,
            })
        })
        .collect();
    json!({
        "success": is_success,
        "seconds": took.as_secs_f64(),
        "compiled": events.made(),
        "stored": events.stored,
        "steps": units,
    })
}
