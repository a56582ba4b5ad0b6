//! Tracing: each load, launch and copy in the file that `KERNELMILL_TRACE` names, and, with the feature `tracing`, as a span
//! of the crate of that name.
//!
//! Without the variable a launch costs one relaxed load more, and without a subscriber for the spans one more.

use std::{
    borrow::Cow,
    path::Path,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    time::Instant,
};

use kernelmill_artifact::{TraceEvent, TraceFile};

const VARIABLE: &str = "KERNELMILL_TRACE";

/// Nobody has asked for the variable yet.
const UNKNOWN: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
static FILE: OnceLock<Option<TraceFile>> = OnceLock::new();

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
}

/// An event of the file that has begun.
struct Open {
    about: About,
    start: Instant,
}

/// Begins a span; `None` where nothing is traced.
#[inline]
pub(crate) fn span(about: impl FnOnce() -> About) -> Option<Span> {
    if STATE.load(Ordering::Relaxed) == OFF && !spans::are_wanted() { None } else { begin(about) }
}

#[cold]
fn begin(about: impl FnOnce() -> About) -> Option<Span> {
    let (has_file, has_spans) = (file().is_some(), spans::are_wanted());
    if !has_file && !has_spans {
        return None;
    }
    let about = about();
    Some(Span {
        #[cfg(feature = "tracing")]
        _entered: has_spans.then(|| spans::enter(&about)),
        event: has_file.then(|| Box::new(Open { about, start: Instant::now() })),
    })
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

    /// Enters the span of a load, a launch or a copy. Fields that it has none of stay empty.
    pub(super) fn enter(about: &About) -> EnteredSpan {
        let name = &*about.name;
        macro_rules! span {
            ($category:literal, $what:ident) => {
                debug_span!(
                    target: "kernelmill", $category, $what = name, device = field::Empty, target = field::Empty,
                    fingerprint = field::Empty, grid = field::Empty, block = field::Empty, bytes = field::Empty,
                    launches = field::Empty,
                )
            };
        }
        let span = match about.category {
            "load" => span!("load", source),
            "copy" => span!("copy", method),
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

impl Drop for Span {
    fn drop(&mut self) {
        let Some(event) = &self.event else { return };
        let Open { about: About { category, name, arguments }, start } = &**event;
        let arguments: Vec<_> = arguments.iter().map(|(key, text)| (*key, text.as_str())).collect();
        let (start, arguments) = (*start, &*arguments);
        if let Some(file) = file() {
            // A disk that is full is no reason to fail: the trace lacks the event, which is said once.
            if let Err(error) = file.write(&TraceEvent { name, category, start, arguments }) {
                static SAID: AtomicBool = AtomicBool::new(false);
                if !SAID.swap(true, Ordering::Relaxed) {
                    eprintln!(
                        "kernelmill: {VARIABLE}: an event cannot be written: {error}; the trace lacks it, and maybe others"
                    );
                }
            }
        }
    }
}
