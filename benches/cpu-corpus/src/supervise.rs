//! Runs the rows on an NVIDIA GPU in other processes, one after the other: after a row that fails, or takes too long, the next process
//! goes on with the row after it.

use std::{
    env,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
};

use crate::{arguments::Arguments, row::Outcome};

/// Who compiled the kernels, as the build script was told.
const COMPILER: &str = env!("CUDA_COMPILER");

/// The rows that have been seen.
#[derive(Default)]
struct Rows {
    has_heading: bool,
    right: usize,
    failures: usize,
    /// The start of the line of the row that runs.
    current: Option<String>,
}

/// Runs all rows.
///
/// # Errors
///
/// Where a row failed or there is none, or where no process gets to its first row.
pub(crate) fn run(asked: &Arguments) -> Outcome {
    let mut rows = Rows::default();
    loop {
        let before = rows.right + rows.failures;
        let ended = process(asked, before, &mut rows)?;
        let was_at_a_row = rows.current.is_some();
        match ended {
            Ok(()) => break,
            Err(what) if was_at_a_row => rows.end(&what, None),
            Err(what) => return Err(what.into()),
        }
    }
    let Rows { right, failures, .. } = rows;
    println!("\n{} kernels: {right} right, {failures} not", right + failures);
    match (right, failures) {
        (0, 0) => Err("no kernel has that in its name".into()),
        (_, 0) => Ok(()),
        _ => Err(format!("{failures} kernels failed").into()),
    }
}

/// Runs rows in a process, after those that are skipped, and says how it ended.
fn process(asked: &Arguments, skipped: usize, rows: &mut Rows) -> Outcome<Result<(), String>> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["--cuda-rows", &skipped.to_string()]).arg(&asked.part);
    if asked.verify_only {
        command.arg("--verify");
    }
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().ok_or("the process has no output")?;
    let (sender, lines) = mpsc::channel();
    let reader = thread::spawn(move || {
        BufReader::new(output).lines().map_while(Result::ok).try_for_each(|it| sender.send(it))
    });
    let mut error = None;
    let ended = loop {
        match lines.recv_timeout(asked.limit) {
            Ok(line) => error = rows.read(&line).or(error),
            Err(RecvTimeoutError::Disconnected) => break Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                child.kill()?;
                break Err(format!("nothing after {} s", asked.limit.as_secs()));
            }
        }
    };
    let status = wait(&mut child)?;
    let _ = reader.join();
    Ok(match (ended, error) {
        (Err(what), _) | (Ok(()), Some(what)) => Err(what),
        (Ok(()), None) if status.is_empty() => Ok(()),
        (Ok(()), None) => Err(status),
    })
}

/// How a process ended; nothing where it succeeded.
fn wait(child: &mut Child) -> Outcome<String> {
    let status = child.wait()?;
    Ok(if status.success() { String::new() } else { format!("the process ended: {status}") })
}

impl Rows {
    /// Reads a line of the process, and gives what failed, after which the process ends.
    fn read(&mut self, line: &str) -> Option<String> {
        match *line.split('\t').collect::<Vec<_>>() {
            ["device", device, chosen, nothing] if !self.has_heading => {
                self.has_heading = true;
                println!(
                    "Kernels of public suites, compiled by {COMPILER}, on {device} ({chosen})."
                );
                if !nothing.is_empty() {
                    println!("Two events with nothing in between are {nothing} ns apart.");
                }
                println!();
                println!("| kernel | file | grid x block | us | result |");
                println!("| --- | --- | --- | --- | --- |");
            }
            ["row", name, file, launch] => {
                self.current = Some(format!("| `{name}` | {file} | {launch} |"));
            }
            ["right"] => self.end("right", None),
            ["right", nanoseconds] => self.end("right", nanoseconds.parse().ok()),
            ["wrong", what] => self.end(what, None),
            ["error", what] => return Some(what.to_owned()),
            _ => {}
        }
        None
    }

    /// Prints the line of the row that ran.
    fn end(&mut self, result: &str, nanoseconds: Option<f64>) {
        let Some(start) = self.current.take() else { return };
        let time = nanoseconds.map_or(String::new(), |it| format!("{:.2}", it / 1e3));
        println!("{start} {time} | {} |", result.replace('|', "/"));
        match result {
            "right" => self.right += 1,
            _ => self.failures += 1,
        }
    }
}
