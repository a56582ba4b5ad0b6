//! Faults: what a kernel does that its target cannot, with the calls that lead there.

use std::fmt;

use kernelmill_artifact::Target;

use super::Code;

/// Something in a kernel that a target cannot do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Its kind.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What to write instead, where there is something to say.
    pub help: Option<String>,
    /// Where: the place itself first, then what it was inlined into or called from, up to the
    /// kernel. Empty where it is not known.
    pub frames: Vec<Frame>,
}

/// A place in a source on the way from a kernel to a [`Fault`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame {
    /// The function it is in, as written in the source.
    pub function: String,
    /// The file; empty where it is not known.
    pub file: String,
    /// The line, from 1; 0 where it is not known.
    pub line: u32,
    /// Whether it is in a library and not in the kernel's own source.
    pub library: bool,
}

impl Fault {
    /// A fault at a place.
    pub(crate) fn new(code: Code, message: impl Into<String>, frames: Vec<Frame>) -> Self {
        Self { code, message: message.into(), help: None, frames }
    }

    /// Says what to write instead.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// The places in the user's own source.
    fn own(&self) -> impl Iterator<Item = &Frame> {
        self.frames.iter().filter(|frame| !frame.library)
    }

    /// Whether a reader would take another fault for this one again.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.message == other.message && self.own().eq(other.own())
    }
}

/// How files of the standard library are named.
const STANDARD: [&str; 3] = ["core/", "alloc/", "std/"];

impl fmt::Display for Frame {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, file, line, .. } = self;
        // Lines of the standard library are of no use to its users, and others in each version.
        let is_standard = self.library && STANDARD.iter().any(|start| file.starts_with(start));
        match (file.is_empty() || is_standard, *line) {
            (true, _) => write!(formatter, "`{function}`"),
            (false, 0) => write!(formatter, "{file}, in `{function}`"),
            (false, line) => write!(formatter, "{file}:{line}, in `{function}`"),
        }
    }
}

impl fmt::Display for Fault {
    /// The code, the message, the place, and a line for each call from there to the kernel.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "[{}] {}", self.code, self.message)?;
        for (index, frame) in self.frames.iter().enumerate() {
            let word = if index == 0 { "-->" } else { "from" };
            write!(formatter, "\n    {word:>4} {frame}")?;
        }
        if let Some(help) = &self.help {
            write!(formatter, "\n    help: {help}")?;
        }
        Ok(())
    }
}

/// The faults of a source for some targets, as text.
pub(crate) struct Listing<'a>(pub(crate) &'a [Target], pub(crate) &'a [Fault]);

impl fmt::Display for Listing<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(Target::to_string).collect();
        let names = match &*names {
            [init @ .., last] if !init.is_empty() => format!("{} and {last}", init.join(", ")),
            all => all.join(""),
        };
        write!(formatter, "a kernel cannot be compiled for {names}:")?;
        for fault in self.1 {
            write!(formatter, "\n  {fault}")?;
        }
        Ok(())
    }
}
