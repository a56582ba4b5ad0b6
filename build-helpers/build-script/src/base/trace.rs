//! The trace of a build: its steps in a file, where one is asked for.

use kernelmill_artifact::{TraceEvent, TraceFile};
use std::{fmt::Display, sync::OnceLock, time::Instant};

/// The file of a build, opened by the first step.
#[derive(Default)]
pub(crate) struct Trace(OnceLock<Option<TraceFile>>);

/// A step that takes time until this is dropped.
pub(crate) struct Step<'a> {
    file: &'a TraceFile,
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
        open: impl FnOnce() -> Option<TraceFile>,
        (category, name): (&'static str, String),
        arguments: &[(&'static str, &dyn Display)],
    ) -> Option<Step<'_>> {
        let file = self.0.get_or_init(open).as_ref()?;
        let text = |(key, value): &(&'static str, &dyn Display)| (*key, value.to_string());
        let arguments = arguments.iter().map(text).collect();
        Some(Step { file, category, name, arguments, start: Instant::now() })
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        let arguments: Vec<_> =
            self.arguments.iter().map(|(key, text)| (*key, text.as_str())).collect();
        // A disk that is full is no reason to fail here: the trace lacks the step.
        let _ = self.file.write(&TraceEvent {
            name: &self.name,
            category: self.category,
            start: self.start,
            arguments: &arguments,
        });
    }
}
