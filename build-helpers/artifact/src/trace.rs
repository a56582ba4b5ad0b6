//! Traces: what builds and programs did when, in the [trace event format] that Perfetto and Chrome show.
//!
//! [trace event format]: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU/preview

use std::{
    cell::Cell,
    fmt::Write as _,
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// How a file ends, whatever is in it.
const END: &[u8] = b"\n]\n";

/// A file of trace events that is one JSON array after each of them, so that a process may end at any time. Several
/// processes can write to one file: each event is added under a lock of the file.
///
/// ```
/// use kernelmill_artifact::{TraceEvent, TraceFile};
/// use std::time::Instant;
///
/// # let path = std::env::temp_dir().join(format!("kernelmill-trace-{}.json", std::process::id()));
/// let trace = TraceFile::append(&path, "demo")?;
/// let start = Instant::now();
/// let arguments = [("target", "sm_90")];
/// trace.write(&TraceEvent { name: "saxpy", category: "compile", start, arguments: &arguments })?;
/// # drop(trace);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct TraceFile {
    file: Mutex<File>,
    /// A moment by both clocks: times of several processes are those since 1970.
    moment: (Instant, Duration),
}

/// Something that took time, which ends when it is written.
#[derive(Clone, Copy, Debug)]
pub struct TraceEvent<'a> {
    /// What it was about, for example a kernel.
    pub name: &'a str,
    /// What kind of thing it was.
    pub category: &'a str,
    /// When it began.
    pub start: Instant,
    /// What else is known of it.
    pub arguments: &'a [(&'a str, &'a str)],
}

/// A track of a file beside those of threads: a stream of a device, for example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceTrack(u64);

impl TraceFile {
    /// Opens a file, or makes it, to add events to, and names the process in it.
    ///
    /// # Errors
    ///
    /// What the system says, and [`io::ErrorKind::InvalidData`] for a file that is no such array.
    pub fn append(path: &Path, process: &str) -> io::Result<Self> {
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        // Others may be writing.
        file.lock()?;
        let checked = check(&mut file);
        file.unlock()?;
        checked?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let trace = Self { file: Mutex::new(file), moment: (Instant::now(), since) };
        trace.add(&named("process_name", thread(), process))?;
        Ok(trace)
    }

    /// Adds a track with a name.
    ///
    /// # Errors
    ///
    /// What the system says.
    ///
    /// ```
    /// # use kernelmill_artifact::{TraceEvent, TraceFile};
    /// # use std::time::{Duration, Instant};
    /// # let path = std::env::temp_dir().join(format!("kernelmill-track-{}.json", std::process::id()));
    /// let trace = TraceFile::append(&path, "demo")?;
    /// let stream = trace.track("cuda:0, stream 1")?;
    /// let event =
    ///     TraceEvent { name: "saxpy", category: "device launch", start: Instant::now(), arguments: &[] };
    /// trace.write_on(stream, &event, Duration::from_micros(7))?;
    /// # drop(trace);
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn track(&self, name: &str) -> io::Result<TraceTrack> {
        let track = TraceTrack(next_number());
        self.add(&named("thread_name", track.0, name))?;
        Ok(track)
    }

    /// Adds a moment: the start of an event, which has no length.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn mark(&self, event: &TraceEvent<'_>) -> io::Result<()> {
        self.add(&self.event("i", thread(), event, None))
    }

    /// Adds an event that ends now.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn write(&self, event: &TraceEvent<'_>) -> io::Result<()> {
        self.add(&self.event("X", thread(), event, Some(event.start.elapsed())))
    }

    /// Adds an event of a track, which took so long.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn write_on(
        &self,
        track: TraceTrack,
        event: &TraceEvent<'_>,
        took: Duration,
    ) -> io::Result<()> {
        self.add(&self.event("X", track.0, event, Some(took)))
    }

    /// An event of a phase on a track, with its length where it has one.
    fn event(
        &self,
        phase: &str,
        track: u64,
        event: &TraceEvent<'_>,
        took: Option<Duration>,
    ) -> String {
        let (moment, since) = self.moment;
        let start = match event.start.checked_duration_since(moment) {
            Some(later) => since + later,
            None => since.saturating_sub(moment.duration_since(event.start)),
        };
        let mut text = head(phase, track, event.name);
        text.push_str(",\"cat\":");
        quote(&mut text, event.category);
        let _ = write!(text, ",\"ts\":{}", micros(start));
        if let Some(took) = took {
            let _ = write!(text, ",\"dur\":{}", micros(took));
        }
        text.push_str(",\"args\":{");
        for (place, (key, value)) in event.arguments.iter().enumerate() {
            text.push_str(if place == 0 { "" } else { "," });
            quote(&mut text, key);
            text.push(':');
            quote(&mut text, value);
        }
        text.push_str("}}");
        text
    }

    /// Adds an element to the array, in one write. The file is as it was where that fails.
    fn add(&self, element: &str) -> io::Result<()> {
        let file = &mut *self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.lock()?;
        let added = (|| {
            let length = file.metadata()?.len();
            let (place, before) = match length.checked_sub(END.len() as u64) {
                Some(place) => (place, ",\n"),
                None => (0, "[\n"),
            };
            let bytes = [before.as_bytes(), element.as_bytes(), END].concat();
            write_at(file, place, &bytes).inspect_err(|_| {
                // A disk without room took a part. What was there has its room, and needs no other.
                let _ = file.set_len(length);
                let end = if length == 0 { &[][..] } else { END };
                let _ = write_at(file, place, end);
            })
        })();
        file.unlock()?;
        added
    }
}

/// Writes over what a file has from a place on.
fn write_at(file: &mut File, place: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(place))?;
    file.write_all(bytes)
}

/// Refuses a file that has something else in it.
fn check(file: &mut File) -> io::Result<()> {
    let length = file.metadata()?.len();
    if length == 0 {
        return Ok(());
    }
    let refused =
        || io::Error::new(io::ErrorKind::InvalidData, "it is not a trace that kernelmill wrote");
    let place = length.checked_sub(END.len() as u64).ok_or_else(refused)?;
    let (mut start, mut end) = ([0; 2], [0; END.len()]);
    file.read_exact(&mut start)?;
    file.seek(SeekFrom::Start(place))?;
    file.read_exact(&mut end)?;
    if start == *b"[\n" && end == *END { Ok(()) } else { Err(refused()) }
}

/// The first members of an event of a track of this process.
fn head(phase: &str, track: u64, name: &str) -> String {
    let mut text =
        format!("{{\"ph\":\"{phase}\",\"pid\":{},\"tid\":{track},\"name\":", std::process::id());
    quote(&mut text, name);
    text
}

/// What gives the process or a track its name.
fn named(what: &str, track: u64, name: &str) -> String {
    let mut text = head("M", track, what);
    text.push_str(",\"args\":{\"name\":");
    quote(&mut text, name);
    text.push_str("}}");
    text
}

/// A number that no thread and no track has yet, from 1.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The number of the calling thread.
fn thread() -> u64 {
    thread_local! {
        static OWN: Cell<u64> = const { Cell::new(0) };
    }
    let number = |own: &Cell<u64>| {
        if own.get() == 0 {
            own.set(next_number());
        }
        own.get()
    };
    // A thread that ends has no number any more.
    OWN.try_with(number).unwrap_or(0)
}

/// Microseconds with three digits after the point.
fn micros(time: Duration) -> String {
    let nanoseconds = time.as_nanos();
    format!("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
}

/// Adds a text as a JSON string.
fn quote(json: &mut String, text: &str) {
    json.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => json.extend(['\\', letter]),
            control if control < ' ' => {
                let _ = write!(json, "\\u{:04x}", u32::from(control));
            }
            other => json.push(other),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::{fs, sync::Barrier, thread};
    use test_support::{temporary_folder, write_file};

    fn events(path: &Path) -> Vec<Value> {
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn a_file_is_an_array_after_each_event_and_any_text_is_told() {
        let folder = temporary_folder();
        let path = folder.path().join("trace.json");
        let trace = TraceFile::append(&path, "a \"program\"").unwrap();
        assert_eq!(events(&path)[0]["args"]["name"], "a \"program\"");
        let start = Instant::now();
        for (place, name) in ["plain", "C:\\x\n\u{1}", "λ"].into_iter().enumerate() {
            let arguments = [("a", "1"), ("b\t", name)];
            trace
                .write(&TraceEvent { name, category: "test", start, arguments: &arguments })
                .unwrap();
            let all = events(&path);
            assert_eq!(all.len(), 2 + place);
            let last = &all[1 + place];
            assert_eq!((&last["name"], &last["ph"]), (&Value::from(name), &Value::from("X")));
            assert_eq!(last["args"]["b\t"], name);
            assert!(last["dur"].as_f64().unwrap() >= 0.0 && last["ts"].as_f64().unwrap() > 1e15);
        }
    }

    #[test]
    fn a_moment_has_a_start_and_no_length() {
        let folder = temporary_folder();
        let path = folder.path().join("trace.json");
        let trace = TraceFile::append(&path, "demo").unwrap();
        let start = Instant::now();
        trace
            .mark(&TraceEvent { name: "a", category: "plan", start, arguments: &[("units", "2")] })
            .unwrap();
        let all = events(&path);
        assert_eq!((&all[1]["ph"], &all[1]["cat"]), (&Value::from("i"), &Value::from("plan")));
        assert_eq!((&all[1]["args"]["units"], &all[1]["dur"]), (&Value::from("2"), &Value::Null));
        assert!(all[1]["ts"].as_f64().unwrap() > 1e15);
    }

    #[test]
    fn tracks_are_apart_from_threads_and_have_names() {
        let folder = temporary_folder();
        let path = folder.path().join("trace.json");
        let trace = TraceFile::append(&path, "demo").unwrap();
        let tracks = ["cuda:0", "cuda:0, stream 1"].map(|name| trace.track(name).unwrap());
        let start = Instant::now();
        let event = TraceEvent { name: "saxpy", category: "launch", start, arguments: &[] };
        trace.write(&event).unwrap();
        for (track, took) in tracks.into_iter().zip([7, 8]) {
            trace.write_on(track, &event, Duration::from_micros(took)).unwrap();
        }
        let all = events(&path);
        let named =
            |index: usize| (all[index]["name"].as_str(), all[index]["args"]["name"].as_str());
        assert_eq!(named(1), (Some("thread_name"), Some("cuda:0")));
        assert_eq!(named(2), (Some("thread_name"), Some("cuda:0, stream 1")));
        assert_eq!(all[3]["tid"], all[0]["tid"]);
        for (event, track, took) in [(&all[4], &all[1], 7.0), (&all[5], &all[2], 8.0)] {
            assert_eq!((&event["tid"], event["dur"].as_f64()), (&track["tid"], Some(took)));
            assert_eq!((&event["ph"], &event["ts"]), (&Value::from("X"), &all[3]["ts"]));
        }
        let mut numbers: Vec<_> = all[..3].iter().map(|it| it["tid"].as_u64().unwrap()).collect();
        numbers.dedup();
        assert_eq!(numbers.len(), 3);
    }

    #[test]
    fn several_writers_lose_nothing() {
        let folder = temporary_folder();
        let path = folder.path().join("trace.json");
        let all_open = Barrier::new(4);
        thread::scope(|scope| {
            for writer in 0..4 {
                let (path, all_open) = (&path, &all_open);
                scope.spawn(move || {
                    let trace = TraceFile::append(path, "writer").unwrap();
                    all_open.wait();
                    for number in 0..500 {
                        let name = format!("{writer} {number}");
                        let (start, category) = (Instant::now(), "test");
                        trace
                            .write(&TraceEvent { name: &name, category, start, arguments: &[] })
                            .unwrap();
                    }
                });
            }
        });
        let mut names: Vec<_> = events(&path).iter().map(|it| it["name"].to_string()).collect();
        assert_eq!(names.len(), 4 * 501);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 4 * 500 + 1);
    }

    #[test]
    fn a_file_with_something_else_is_refused_and_left_alone() {
        let folder = temporary_folder();
        for text in ["{}", "[1]", "notes of mine\n", "[\n"] {
            let path = write_file(&folder, "other.json", text);
            let error = TraceFile::append(&path, "demo").unwrap_err();
            assert_eq!(error.to_string(), "it is not a trace that kernelmill wrote", "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
