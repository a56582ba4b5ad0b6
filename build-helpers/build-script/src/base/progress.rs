//! The progress of a build while it runs.
//!
//! Cargo shows what a build script prints only when the script has ended. So the progress goes elsewhere: into a file that
//! `cargo kernelmill build` reads, or, where the user asks for it, to the terminal of the process, `/dev/tty`. The
//! terminal is never written to unasked: an editor that runs Cargo may draw on the same one.

use kernelmill_artifact::{Target, TraceEvent, TraceFile};
use std::{
    fs::File,
    io::Write as _,
    path::Path,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Whether the progress is written to the terminal: `never` (default), `auto` or `always`.
pub(super) const VARIABLE: &str = "KERNELMILL_PROGRESS";
/// The file that `cargo kernelmill build` reads: a trace with the moments at which steps begin.
pub(super) const FILE: &str = "KERNELMILL_PROGRESS_FILE";

/// Who is told of the progress, and how far the build is.
pub(super) struct Progress {
    file: Option<TraceFile>,
    terminal: Option<File>,
    counts: Mutex<Counts>,
}

/// How many units there are, and how many are done.
#[derive(Clone, Copy, Debug)]
struct Counts {
    start: Instant,
    all: usize,
    done: usize,
}

impl Progress {
    /// `None` where nobody is told.
    pub(super) fn new(file: Option<TraceFile>, terminal: Option<File>) -> Option<Self> {
        let counts = Counts { start: Instant::now(), all: 0, done: 0 };
        let is_told = file.is_some() || terminal.is_some();
        is_told.then(|| Self { file, terminal, counts: Mutex::new(counts) })
    }

    /// A step begins.
    pub(super) fn begin(&self, event: &TraceEvent<'_>) {
        let category = format!("begin {}", event.category);
        self.mark(&TraceEvent { category: &category, ..*event });
    }

    /// A step has ended.
    pub(super) fn end(&self, event: &TraceEvent<'_>) {
        if let Some(file) = &self.file {
            // Nobody reads a file that cannot be written.
            let _ = file.write(event);
        }
    }

    /// The units of the build are known.
    pub(super) fn planned(&self, units: usize) {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).all = units;
        let (start, text) = (Instant::now(), units.to_string());
        let arguments = [("units", &*text)];
        self.mark(&TraceEvent { name: "units", category: "plan", start, arguments: &arguments });
    }

    /// A unit is done.
    pub(super) fn done(&self, source: &str, target: &Target, is_stored: bool) {
        let counts = {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            counts.done += 1;
            *counts
        };
        let (start, target) = (Instant::now(), target.to_string());
        let arguments =
            [("target", &*target), ("in the store", if is_stored { "true" } else { "false" })];
        self.mark(&TraceEvent { name: source, category: "unit", start, arguments: &arguments });
        if let Some(mut terminal) = self.terminal.as_ref() {
            let line = line(counts, counts.start.elapsed(), (source, &target), is_stored);
            // In one write, over the line on which Cargo draws its bar. A terminal that is gone is told nothing.
            let _ = terminal.write_all(format!("\r\x1b[K{line}\n").as_bytes());
        }
    }

    fn mark(&self, event: &TraceEvent<'_>) {
        if let Some(file) = &self.file {
            let _ = file.mark(event);
        }
    }
}

/// What the terminal shows of a unit that is done.
fn line(counts: Counts, took: Duration, (source, target): (&str, &str), is_stored: bool) -> String {
    let Counts { all, done, .. } = counts;
    // Units of nvcc are done before all units are known.
    let of_all = if all >= done { format!("{done} of {all}") } else { done.to_string() };
    let stored = if is_stored { ", from the store" } else { "" };
    let left = match u32::try_from(all.saturating_sub(done)).ok().zip(u32::try_from(done).ok()) {
        Some((left, done)) if done > 0 => match (took / done * left).as_secs() {
            0 => String::new(),
            seconds => format!(", about {seconds} s left"),
        },
        _ => String::new(),
    };
    format!("kernelmill: {of_all}: {source} for {target}{stored}{left}")
}

/// Shows lines that the user asked for: on the terminal where there is one, and otherwise the last of them as a warning, which Cargo
/// shows without `-vv`.
pub(super) fn show(lines: &[String], terminal: Option<File>, warn: impl FnOnce(&str)) {
    let Some(mut terminal) = terminal else {
        return match lines {
            [] => {}
            [only] => warn(only),
            [.., last] => warn(&format!("{last}; `cargo build -vv` shows all lines")),
        };
    };
    let text: String = lines.iter().map(|line| format!("\r\x1b[K{line}\n")).collect();
    // A terminal that is gone is shown nothing.
    let _ = terminal.write_all(text.as_bytes());
}

/// The terminal, where the value of the variable allows it. `Err` with what can be written for a value that
/// is none.
pub(super) fn terminal(value: Option<&str>) -> Result<Option<File>, &'static str> {
    let is_wanted = match value {
        None | Some("never") => false,
        Some("always") => true,
        Some("auto") => {
            std::fs::read_to_string("/proc/self/stat").is_ok_and(|it| is_foreground(&it))
        }
        Some(_) => return Err("`never`, `auto` or `always`"),
    };
    let open = || File::options().append(true).open(Path::new("/dev/tty")).ok();
    Ok(if is_wanted { open() } else { None })
}

/// Whether a process is in the foreground of its terminal, by its line in [`/proc/PID/stat`]: a job in the background
/// and the server of an editor with a session of its own are not.
///
/// [`/proc/PID/stat`]: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
fn is_foreground(stat: &str) -> bool {
    // The name of the program, in parentheses, may have any letters.
    let Some((_, rest)) = stat.rsplit_once(") ") else { return false };
    let fields: Vec<_> = rest.split(' ').collect();
    match fields.get(2..6) {
        Some([group, _session, terminal, foreground]) => *terminal != "0" && group == foreground,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use test_support::temporary_folder;

    fn progress(folder: &Path) -> Progress {
        let file = TraceFile::append(&folder.join("progress.json"), "build of app").unwrap();
        let terminal = File::create(folder.join("terminal")).unwrap();
        Progress::new(Some(file), Some(terminal)).unwrap()
    }

    #[test]
    fn lines_go_to_the_terminal_and_without_one_the_last_is_a_warning() {
        let folder = temporary_folder();
        let path = folder.path().join("terminal");
        let lines = ["a: thread loop".to_owned(), "compiled 1 cached 0".to_owned()];
        show(&lines, Some(File::create(&path).unwrap()), |it| panic!("{it}"));
        let text = "\r\x1b[Ka: thread loop\n\r\x1b[Kcompiled 1 cached 0\n";
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        let mut warned = Vec::new();
        show(&lines, None, |it| warned.push(it.to_owned()));
        show(&lines[1..], None, |it| warned.push(it.to_owned()));
        show(&[], None, |it| warned.push(it.to_owned()));
        let expected =
            ["compiled 1 cached 0; `cargo build -vv` shows all lines", "compiled 1 cached 0"];
        assert_eq!(warned, expected);
    }

    #[test]
    fn the_file_has_the_plan_and_each_unit_and_the_terminal_a_line_for_each() {
        let folder = temporary_folder();
        let progress = progress(folder.path());
        progress.planned(2);
        progress.done("kernels/a.rs", &Target::Cpu, true);
        progress.done("kernels/a.rs", &"sm_90".parse().unwrap(), false);
        let text = fs::read_to_string(folder.path().join("progress.json")).unwrap();
        let events: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        assert_eq!(events[1]["args"]["units"], "2");
        let units: Vec<_> =
            events[2..].iter().map(|it| (&it["cat"], &it["args"]["target"])).collect();
        assert_eq!(units, [(&"unit".into(), &"cpu".into()), (&"unit".into(), &"sm_90".into())]);
        let terminal = fs::read_to_string(folder.path().join("terminal")).unwrap();
        let expected = "\r\x1b[Kkernelmill: 1 of 2: kernels/a.rs for cpu, from the store\n\
                        \r\x1b[Kkernelmill: 2 of 2: kernels/a.rs for sm_90\n";
        assert_eq!(terminal, expected);
    }

    #[test]
    fn the_time_left_is_that_of_the_units_left_at_the_speed_so_far() {
        let counts = Counts { start: Instant::now(), all: 8, done: 2 };
        let line = |took| line(counts, Duration::from_secs(took), ("k.rs", "cpu"), false);
        assert_eq!(line(10), "kernelmill: 2 of 8: k.rs for cpu, about 30 s left");
    }

    #[test]
    fn only_a_job_in_the_foreground_is_in_the_foreground() {
        let stat = |group: u32, terminal: u32, foreground: i32| {
            is_foreground(&format!("7 (a) b) S 1 {group} 7 {terminal} {foreground} 4194560 1"))
        };
        assert!(stat(7, 34817, 7));
        assert!(!stat(7, 34817, 5), "a job in the background");
        assert!(!stat(7, 0, -1), "no terminal");
        assert!(!is_foreground("nothing"));
    }

    #[test]
    fn no_terminal_is_opened_unasked_and_a_value_that_is_none_is_refused() {
        assert!(terminal(None).unwrap().is_none() && terminal(Some("never")).unwrap().is_none());
        assert_eq!(terminal(Some("yes")).map(drop), Err("`never`, `auto` or `always`"));
    }
}
