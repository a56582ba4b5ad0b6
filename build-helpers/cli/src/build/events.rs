//! What build scripts have written of their progress.

use anyhow::{Context as _, Result};
use serde_json::Value;
use std::{collections::BTreeMap, fs::File, io::Read as _, path::Path};

/// A process and a thread of it.
pub(super) type Thread = (u64, u64);

/// What is known of the builds so far.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The package that each process builds.
    pub(super) packages: BTreeMap<u64, String>,
    /// The units that each process makes, where it has said so.
    planned: BTreeMap<u64, u64>,
    /// The units that are done.
    pub(super) done: u64,
    /// Those of them that were in the store.
    pub(super) stored: u64,
    /// The steps that have ended.
    pub(super) finished: Vec<Step>,
    /// The steps that have begun.
    pub(super) running: Vec<Step>,
}

/// A step of a build.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) thread: Thread,
    /// `build`, `front end` or `compile`.
    pub(super) category: String,
    /// The source, or the stage of the build.
    pub(super) name: String,
    /// The target of what is compiled.
    pub(super) target: Option<String>,
    /// When it began, in microseconds since 1970.
    pub(super) start: f64,
    /// How long it took, in microseconds.
    pub(super) took: f64,
}

impl Step {
    /// Whether it makes a binary or reads a source.
    pub(super) fn is_unit(&self) -> bool {
        self.category != "build"
    }

    /// What it is about.
    pub(super) fn subject(&self) -> String {
        match &self.target {
            Some(target) => format!("{} for {target}", self.name),
            None => format!("{}, {}", self.name, self.category),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.thread, &self.category, &self.name, &self.target)
            == (other.thread, &other.category, &other.name, &other.target)
    }
}

impl Events {
    /// Reads the file; none is a build without build scripts that compile kernels.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let Ok(mut file) = File::open(path) else { return Ok(Self::default()) };
        let mut text = String::new();
        // Writers hold the lock while the array has no end.
        file.lock_shared()?;
        let read = file.read_to_string(&mut text);
        file.unlock()?;
        read?;
        if text.is_empty() {
            return Ok(Self::default());
        }
        let events: Vec<Value> = serde_json::from_str(&text)
            .with_context(|| format!("{} is not the trace of a build", path.display()))?;
        Ok(Self::of(&events))
    }

    fn of(events: &[Value]) -> Self {
        let mut known = Self::default();
        for event in events {
            let number = |key: &str| event[key].as_u64().unwrap_or_default();
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let (phase, category) = (text(&event["ph"]), text(&event["cat"]));
            let arguments = &event["args"];
            let step = |category: &str| Step {
                thread: (number("pid"), number("tid")),
                category: category.to_owned(),
                name: text(&event["name"]),
                target: arguments["target"].as_str().map(str::to_owned),
                start: event["ts"].as_f64().unwrap_or_default(),
                took: event["dur"].as_f64().unwrap_or_default(),
            };
            match (&*phase, &*category) {
                ("M", _) => {
                    known.packages.insert(number("pid"), text(&arguments["name"]));
                }
                ("i", "plan") => {
                    let units = text(&arguments["units"]).parse().unwrap_or_default();
                    known.planned.insert(number("pid"), units);
                }
                ("i", "unit") => {
                    known.done += 1;
                    known.stored += u64::from(arguments["in the store"] == "true");
                }
                ("i", other) => known.running.extend(other.strip_prefix("begin ").map(step)),
                ("X", other) => {
                    let ended = step(other);
                    let place = known.running.iter().rposition(|it| it.is_same(&ended));
                    place.map(|place| known.running.remove(place));
                    known.finished.push(ended);
                }
                _ => {}
            }
        }
        known
    }

    /// How many units there are, as far as it is known.
    pub(super) fn all(&self) -> u64 {
        self.planned.values().sum::<u64>().max(self.done)
    }

    /// The seconds that the units left take at the speed of those that were compiled, `now` in microseconds since 1970.
    pub(super) fn seconds_left(&self, now: f64) -> Option<f64> {
        let steps = self.finished.iter().chain(&self.running);
        let start =
            steps.filter(|it| it.category == "compile").map(|it| it.start).reduce(f64::min)?;
        let left = self.all() - self.done;
        let is_known = left > 0 && self.made() > 0;
        is_known.then(|| (now - start).max(0.0) / 1e6 / self.made() as f64 * left as f64)
    }

    /// The binaries that were compiled.
    pub(super) fn made(&self) -> u64 {
        self.done - self.stored
    }

    /// The steps that made a binary or read a source.
    pub(super) fn units(&self) -> impl Iterator<Item = &Step> {
        self.finished.iter().filter(|step| step.is_unit())
    }

    /// When the first step began, in microseconds since 1970.
    pub(super) fn begin(&self) -> f64 {
        let starts = self.finished.iter().chain(&self.running).map(|step| step.start);
        starts.reduce(f64::min).unwrap_or_default()
    }

    /// When the last step ended.
    pub(super) fn end(&self) -> f64 {
        let ends = self.finished.iter().map(|step| step.start + step.took);
        ends.reduce(f64::max).unwrap_or_default()
    }

    /// The package that a step is for.
    pub(super) fn package(&self, step: &Step) -> &str {
        self.packages.get(&step.thread.0).map_or("", String::as_str)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// A build of two binaries in two threads, one of them still running, and a third from the store.
    pub(in super::super) fn example() -> Events {
        let step = |tid: u64, phase: &str, cat: &str, name: &str, ts: u64, dur: u64| {
            let target = if cat.ends_with("compile") { json!("sm_90") } else { Value::Null };
            json!({"ph": phase, "pid": 7, "tid": tid, "cat": cat, "name": name, "ts": ts, "dur": dur,
                   "args": {"target": target}})
        };
        Events::of(&[
            json!({"ph": "M", "pid": 7, "tid": 1, "name": "process_name", "args": {"name": "app"}}),
            step(1, "i", "begin front end", "k/a.rs", 1_000_000, 0),
            step(1, "X", "front end", "k/a.rs", 1_000_000, 500_000),
            json!({"ph": "i", "pid": 7, "tid": 1, "cat": "plan", "name": "units", "args": {"units": "3"}}),
            json!({"ph": "i", "pid": 7, "tid": 1, "cat": "unit", "name": "k/c.rs",
                   "args": {"in the store": "true"}}),
            step(1, "i", "begin compile", "k/a.rs", 1_500_000, 0),
            step(2, "i", "begin compile", "k/<b>.rs", 1_600_000, 0),
            step(1, "X", "compile", "k/a.rs", 1_500_000, 2_500_000),
            json!({"ph": "i", "pid": 7, "tid": 1, "cat": "unit", "name": "k/a.rs",
                   "args": {"in the store": "false"}}),
        ])
    }

    #[test]
    fn what_has_begun_runs_until_it_ends() {
        let events = example();
        assert_eq!((events.done, events.stored, events.made(), events.all()), (2, 1, 1, 3));
        let running: Vec<_> = events.running.iter().map(Step::subject).collect();
        assert_eq!(running, ["k/<b>.rs for sm_90"]);
        let finished: Vec<_> = events.units().map(Step::subject).collect();
        assert_eq!(finished, ["k/a.rs, front end", "k/a.rs for sm_90"]);
        assert_eq!((events.begin(), events.end()), (1e6, 4e6));
        assert_eq!(events.package(&events.running[0]), "app");
        // One was compiled since 1.5 s, and one is left.
        assert_eq!(events.seconds_left(5.5e6), Some(4.0));
        assert_eq!(Events::default().seconds_left(5.5e6), None);
    }

    #[test]
    fn a_file_that_is_not_there_has_no_events_and_what_is_no_trace_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("progress.json");
        assert!(Events::read(&path).unwrap().packages.is_empty());
        std::fs::write(&path, "[\n").unwrap();
        assert!(
            Events::read(&path)
                .unwrap_err()
                .to_string()
                .ends_with("progress.json is not the trace of a build")
        );
    }
}
