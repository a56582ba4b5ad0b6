//! Traces that programs have written, and what must hold of the times of devices in them.

use crate::temporary_folder;
use serde_json::Value;
use std::{collections::BTreeMap, env, fs, path::Path};

/// The variable that names the file.
pub(crate) const TRACE: &str = "KERNELMILL_TRACE";

/// The most by which times differ that are told by two pairs of a driver's events, in microseconds.
const PRECISION: f64 = 2.0;

/// The events of a file.
#[derive(Debug)]
pub struct Trace(Vec<Value>);

impl Trace {
    /// Reads a file.
    ///
    /// # Panics
    ///
    /// Where it is no trace.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("a trace");
        Self(serde_json::from_str(&text).expect("an array of events"))
    }

    /// The trace of what `child` does in a process of its own, given the variables for it. In that process `child` does not
    /// return.
    ///
    /// # Panics
    ///
    /// Where the process writes none.
    #[must_use]
    pub fn of_child(variables: &[(&str, &str)], child: impl FnOnce(&[(&str, &str)])) -> Self {
        if env::var_os(TRACE).is_some() {
            child(&[]);
            unreachable!("the process of a test ends in it");
        }
        let folder = temporary_folder();
        let path = folder.path().join("trace.json");
        let own = [(TRACE, path.to_str().expect("UTF-8"))];
        child(&own.iter().chain(variables).copied().collect::<Vec<_>>());
        Self::read(&path)
    }

    /// The trace that this process writes now.
    ///
    /// # Panics
    ///
    /// Where it writes none.
    #[must_use]
    pub fn own() -> Self {
        Self::read(Path::new(&env::var_os(TRACE).expect("the process is traced")))
    }

    /// The events of a category, in their order in the file.
    pub fn events<'a>(&'a self, category: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
        let category = Value::from(category);
        self.0.iter().filter(move |event| event["cat"] == category)
    }

    /// The names of the events of a category, in their order in the file.
    #[must_use]
    pub fn names(&self, category: &str) -> Vec<&str> {
        self.events(category).map(|event| text(&event["name"])).collect()
    }

    /// The names of what ran on devices, by the names of their tracks, in their order there.
    #[must_use]
    pub fn on_devices(&self) -> BTreeMap<&str, Vec<&str>> {
        let tracks = self.0.iter().filter(|event| event["name"] == "thread_name");
        let of_track = |track: &Value| {
            let own = self.device_events().into_iter().filter(|event| event["tid"] == track["tid"]);
            own.map(|event| text(&event["name"])).collect()
        };
        tracks.map(|track| (text(&track["args"]["name"]), of_track(track))).collect()
    }

    /// Checks that everything that was launched and copied on devices has its time there, began after the host asked
    /// for it and is done when it is written, one thing after the other on each stream.
    ///
    /// # Panics
    ///
    /// Where something does not hold.
    #[track_caller]
    pub fn check_device_times(&self) {
        let device = self.device_events();
        for category in ["launch", "copy"] {
            let on_device = format!("device {category}");
            let starts = |category: &str| {
                let mut all: Vec<f64> = self.events(category).map(|it| number(&it["ts"])).collect();
                all.sort_by(f64::total_cmp);
                all
            };
            let (asked, begun) = (starts(category), starts(&on_device));
            assert_eq!(asked.len(), begun.len(), "{self:#?}");
            for (asked, begun) in asked.iter().zip(begun) {
                assert!(begun >= *asked, "{begun} is before {asked}: {self:#?}");
            }
        }
        for (index, event) in device.iter().enumerate() {
            assert!(number(&event["dur"]) >= 0.0, "{event}");
            let before = device[..index].iter().rfind(|before| before["tid"] == event["tid"]);
            let free = before.map_or(0.0, |it| number(&it["ts"]) + number(&it["dur"]));
            assert!(number(&event["ts"]) >= free - PRECISION, "{event} begins before {free}");
        }
    }

    /// What ran on devices, in the order of its beginning.
    fn device_events(&self) -> Vec<&Value> {
        let is_own =
            |event: &&Value| event["cat"].as_str().is_some_and(|it| it.starts_with("device "));
        let mut own: Vec<_> = self.0.iter().filter(is_own).collect();
        own.sort_by(|a, b| number(&a["ts"]).total_cmp(&number(&b["ts"])));
        own
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}
