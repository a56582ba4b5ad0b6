//! The trace of a build: its steps in a file, where one is asked for, and its progress while it runs.

use super::progress::Progress;
use kernelmill_artifact::{TraceEvent, TraceFile};
use std::{fmt::Display, sync::OnceLock, time::Instant};

/// Where the steps of a build go, opened by the first one.
#[derive(Default)]
pub(crate) struct Trace(OnceLock<Sinks>);

/// The file of the trace, and who is told of the progress.
pub(super) struct Sinks {
    pub(super) file: Option<TraceFile>,
    pub(super) progress: Option<Progress>,
}

/// A step that takes time until this is dropped.
pub(crate) struct Step<'a> {
    sinks: &'a Sinks,
    category: &'static str,
    name: String,
    /// What else is known of it.
    pub(crate) arguments: Vec<(&'static str, String)>,
    start: Instant,
}

impl Trace {
    /// Begins a step; `None` where nothing is traced.
    pub(super) fn step(
        &self,
        open: impl FnOnce() -> Sinks,
        (category, name): (&'static str, String),
        arguments: &[(&'static str, &dyn Display)],
    ) -> Option<Step<'_>> {
        let sinks = self.0.get_or_init(open);
        if sinks.file.is_none() && sinks.progress.is_none() {
            return None;
        }
        let text = |(key, value): &(&'static str, &dyn Display)| (*key, value.to_string());
        let arguments = arguments.iter().map(text).collect();
        let step = Step { sinks, category, name, arguments, start: Instant::now() };
        if let Some(progress) = &sinks.progress {
            step.told(|event| progress.begin(event));
        }
        Some(step)
    }

    /// Writes a step that is no progress: what the store had.
    pub(super) fn stored(
        &self,
        open: impl FnOnce() -> Sinks,
        name: &str,
        start: Instant,
        arguments: &[(&str, &str)],
    ) {
        if let Some(file) = &self.0.get_or_init(open).file {
            // A disk that is full is no reason to fail here: the trace lacks the step.
            let _ = file.write(&TraceEvent { name, category: "store", start, arguments });
        }
    }

    /// Who is told of the progress.
    pub(super) fn progress(&self, open: impl FnOnce() -> Sinks) -> Option<&Progress> {
        self.0.get_or_init(open).progress.as_ref()
    }
}

impl Step<'_> {
    fn told(&self, tell: impl FnOnce(&TraceEvent<'_>)) {
        let arguments: Vec<_> =
            self.arguments.iter().map(|(key, text)| (*key, text.as_str())).collect();
        let Self { name, category, start, .. } = self;
        tell(&TraceEvent { name, category, start: *start, arguments: &arguments });
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        let Sinks { file, progress } = self.sinks;
        self.told(|event| {
            if let Some(file) = file {
                // A disk that is full is no reason to fail here: the trace lacks the step.
                let _ = file.write(event);
            }
            if let Some(progress) = progress {
                progress.end(event);
            }
        });
    }
}
