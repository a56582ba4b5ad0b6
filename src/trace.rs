//! Tracing: each compilation at run time, load, launch and copy in the file that `KERNELMILL_TRACE` names, and, with the feature `tracing`, as a span
//! of the crate of that name, and, with the feature `nvtx`, as a range for NVIDIA's tools. Back ends with queues add how long each launch and copy takes on the device.
//!
//! Without the variable a launch costs two relaxed loads more, and without a subscriber for the spans one more.

use std::{
    borrow::Cow,
    cell::RefCell,
    io,
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    time::{Duration, Instant},
};

use kernelmill_artifact::{TraceEvent, TraceFile, TraceTrack};

const VARIABLE: &str = "KERNELMILL_TRACE";

/// Nobody has asked for the variable yet.
const UNKNOWN: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
static FILE: OnceLock<Option<TraceFile>> = OnceLock::new();

thread_local! {
    /// What the innermost event of the file is about that has begun on this thread.
    static CURRENT: RefCell<Option<Arc<About>>> = const { RefCell::new(None) };
}

/// What a span is about.
pub(crate) struct About {
    pub(crate) category: &'static str,
    pub(crate) name: Cow<'static, str>,
    pub(crate) arguments: Vec<(&'static str, String)>,
}

/// Something that takes time until this is dropped.
pub(crate) struct Span {
    event: Option<Box<Open>>,
    #[cfg(feature = "tracing")]
    _entered: Option<tracing::span::EnteredSpan>,
    #[cfg(feature = "nvtx")]
    _range: Option<crate::nvtx::Range>,
}

/// An event of the file that has begun.
struct Open {
    about: Arc<About>,
    start: Instant,
    /// What was begun on this thread before it.
    outer: Option<Arc<About>>,
}

impl Open {
    fn new(about: About) -> Self {
        let about = Arc::new(about);
        let current = Some(Arc::clone(&about));
        // A thread that ends has none any more.
        let outer = CURRENT.try_with(|it| it.replace(current)).unwrap_or(None);
        Self { about, start: Instant::now(), outer }
    }
}

/// What the calling thread does that the file has an event of; `None` where there is no file.
#[inline]
pub(crate) fn current() -> Option<Arc<About>> {
    if has_file() { CURRENT.try_with(|it| it.borrow().clone()).unwrap_or(None) } else { None }
}

/// Whether there is a file, as far as somebody has asked for it.
#[inline]
pub(crate) fn has_file() -> bool {
    STATE.load(Ordering::Relaxed) == ON
}

/// A new track of the file; `None` where it cannot be written.
pub(crate) fn track(name: &str) -> Option<TraceTrack> {
    written(file()?.track(name))
}

/// Writes an event of a track, from `start` on.
pub(crate) fn write_on(track: TraceTrack, about: &About, start: Instant, took: Duration) {
    let category = match about.category {
        "copy" => "device copy",
        _ => "device launch",
    };
    let Some(file) = file() else { return };
    about.with(category, start, |event| {
        written(file.write_on(track, event, took));
    });
}

/// Begins a span; `None` where nothing is traced.
#[inline]
pub(crate) fn span(about: impl FnOnce() -> About) -> Option<Span> {
    if STATE.load(Ordering::Relaxed) == OFF && !spans::are_wanted() && !ranges_are_wanted() {
        return None;
    }
    begin(about)
}

#[cold]
fn begin(about: impl FnOnce() -> About) -> Option<Span> {
    let (has_file, has_spans) = (file().is_some(), spans::are_wanted());
    if !has_file && !has_spans && !ranges_are_wanted() {
        return None;
    }
    let about = about();
    Some(Span {
        #[cfg(feature = "tracing")]
        _entered: has_spans.then(|| spans::enter(&about)),
        #[cfg(feature = "nvtx")]
        _range: crate::nvtx::range(about.category, &about.name),
        event: has_file.then(|| Box::new(Open::new(about))),
    })
}

/// Whether a tool of NVIDIA's takes ranges.
#[inline]
fn ranges_are_wanted() -> bool {
    #[cfg(feature = "nvtx")]
    return crate::nvtx::is_wanted();
    #[cfg(not(feature = "nvtx"))]
    false
}

/// Spans of the crate `tracing`, with the target `kernelmill` and the level `DEBUG`.
#[cfg(feature = "tracing")]
mod spans {
    use tracing::{Level, debug_span, field, span::EnteredSpan};

    use super::About;

    /// Whether a subscriber wants them.
    #[inline]
    pub(super) fn are_wanted() -> bool {
        tracing::enabled!(target: "kernelmill", Level::DEBUG)
    }

    /// Enters the span of a compilation, a load, a launch or a copy. Fields that it has none of stay empty.
    pub(super) fn enter(about: &About) -> EnteredSpan {
        let name = &*about.name;
        macro_rules! span {
            ($category:literal, $what:ident) => {
                debug_span!(
                    target: "kernelmill", $category, $what = name, device = field::Empty, target = field::Empty,
                    fingerprint = field::Empty, grid = field::Empty, block = field::Empty, bytes = field::Empty,
                    origin = field::Empty, launches = field::Empty,
                )
            };
        }
        let span = match about.category {
            "load" => span!("load", source),
            "copy" => span!("copy", method),
            "compile" => span!("compile", source),
            _ => span!("launch", kernel),
        };
        for (key, text) in &about.arguments {
            span.record(*key, text.as_str());
        }
        span.entered()
    }
}

/// Without the crate `tracing` nobody wants its spans.
#[cfg(not(feature = "tracing"))]
mod spans {
    #[inline]
    pub(super) const fn are_wanted() -> bool {
        false
    }
}

/// A copy of so many bytes from or to the memory of a device.
pub(crate) fn copy(
    name: &'static str,
    bytes: usize,
    device: &dyn std::fmt::Display,
) -> Option<Span> {
    span(|| {
        let arguments = vec![("bytes", bytes.to_string()), ("device", device.to_string())];
        About { category: "copy", name: name.into(), arguments }
    })
}

/// The file, opened by whoever asks first.
fn file() -> Option<&'static TraceFile> {
    let file = FILE.get_or_init(|| {
        let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty())?;
        let program = std::env::current_exe().ok();
        let name = program.as_deref().and_then(Path::file_name).unwrap_or_default();
        let opened = TraceFile::append(Path::new(&path), &name.to_string_lossy());
        let warn = |error| {
            let path = Path::new(&path).display();
            eprintln!("kernelmill: {VARIABLE} is `{path}`, which cannot be written: {error}; nothing is traced");
        };
        opened.map_err(warn).ok()
    });
    STATE.store(if file.is_some() { ON } else { OFF }, Ordering::Relaxed);
    file.as_ref()
}

impl About {
    /// The event that is written of it.
    fn with(&self, category: &str, start: Instant, write: impl FnOnce(&TraceEvent<'_>)) {
        let pairs = self.arguments.iter().map(|(key, text)| (*key, text.as_str()));
        let arguments: Vec<_> = pairs.collect();
        write(&TraceEvent { name: &self.name, category, start, arguments: &arguments });
    }
}

/// What was written. A disk that is full is no reason to fail: the trace lacks the event, which is said once.
fn written<T>(result: io::Result<T>) -> Option<T> {
    static SAID: AtomicBool = AtomicBool::new(false);
    let say = |error: &io::Error| {
        if !SAID.swap(true, Ordering::Relaxed) {
            eprintln!(
                "kernelmill: {VARIABLE}: an event cannot be written: {error}; the trace lacks it, and maybe others"
            );
        }
    };
    result.inspect_err(say).ok()
}

impl Drop for Span {
    fn drop(&mut self) {
        let Some(open) = &mut self.event else { return };
        // A thread that ends has none any more.
        let _ = CURRENT.try_with(|it| it.replace(open.outer.take()));
        let Some(file) = file() else { return };
        open.about.with(open.about.category, open.start, |event| {
            written(file.write(event));
        });
    }
}
