//! A panic inside a kernel, as an error of the host.

use std::fmt;

use kernelmill_artifact::{PanicKind, SourceFrame, SourceLocation};

/// A panic inside a kernel: the first one of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelPanic {
    /// What kind of panic.
    pub kind: PanicKind,
    /// The message, as `std` would print it.
    pub message: String,
    /// The place in the source; `None` where the compiler knows none.
    pub location: Option<SourceLocation<'static>>,
    /// The source that the kernel was compiled from, relative to its package.
    pub source: &'static str,
    /// Index of the block, x, y, z.
    pub block: [u32; 3],
    /// Index of the thread in its block, x, y, z.
    pub thread: [u32; 3],
    /// The calls on the way to the panic, the innermost first, where the kernel was compiled with
    /// `panics = "backtrace"`.
    pub backtrace: &'static [SourceFrame<'static>],
}

impl fmt::Display for KernelPanic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            Some(location) => write!(formatter, "kernel panicked at {location}")?,
            None => write!(formatter, "kernel of {} panicked", self.source)?,
        }
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        if self.kind != PanicKind::Silent {
            write!(formatter, " (block {bx},{by},{bz} thread {tx},{ty},{tz})")?;
        }
        write!(formatter, ": {}", self.message)?;
        self.backtrace.iter().try_for_each(|frame| write!(formatter, "\n    at {frame}"))
    }
}
