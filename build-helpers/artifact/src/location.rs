//! Places in the sources of kernels, as panics and backtraces name them.

use std::fmt;

/// The source location of a panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceLocation<'a> {
    /// The file, relative to its package.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl fmt::Display for SourceLocation<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A stack frame of a panic's backtrace: a function, and the line of the call in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceFrame<'a> {
    /// The function's name.
    pub function: &'a str,
    /// The file, relative to its package.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u32,
}

impl fmt::Display for SourceFrame<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({}:{})", self.function, self.file, self.line)
    }
}
