//! Diagnostics of a kernel source in Rust or of its settings, with the place and a help.

use std::{fmt, ops::Range};

use super::Code;

/// One finding about a kernel source, with what to write instead.
///
/// ```
/// use kernelmill_compiler::diagnostic::{Code, Diagnostic, Place};
/// let place = Place { file: "kernels/a.rs".into(), line: 3, column: 5, span: 40..48 };
/// let found = Diagnostic::error(Code::SameName, place, "two kernels are named `a`").help("rename one of them");
/// assert_eq!(
///     found.to_string(),
///     "kernels/a.rs:3:5: error[KM0027]: two kernels are named `a`\n  help: rename one of them"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its kind.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line; it names the kernel and the parameter.
    pub message: String,
    /// Where.
    pub place: Place,
    /// The kernel it is about, where it is about one.
    pub kernel: Option<String>,
    /// The parameter it is about, where it is about one.
    pub parameter: Option<String>,
    /// Other places that belong to it.
    pub labels: Vec<Label>,
    /// What to write instead.
    pub help: Option<String>,
}

/// How bad a [`Diagnostic`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The source cannot be compiled.
    Error,
    /// The source compiles, and probably does not do what was meant.
    Warning,
}

/// A stretch of source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's path as people know it, for example `kernels/saxpy.rs`.
    pub file: String,
    /// The line of its first character, from 1.
    pub line: u32,
    /// The column of its first character in characters, from 1.
    pub column: u32,
    /// Its bytes in the file's text.
    pub span: Range<usize>,
}

/// A [`Place`] with a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub place: Place,
    /// What is to be seen there.
    pub text: String,
}

impl Diagnostic {
    /// An error about no kernel in particular.
    #[must_use]
    pub fn error(code: Code, place: Place, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            place,
            kernel: None,
            parameter: None,
            labels: Vec::new(),
            help: None,
        }
    }

    /// A warning about no kernel in particular.
    #[must_use]
    pub fn warning(code: Code, place: Place, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, place, message) }
    }

    /// Says which kernel it is about.
    #[must_use]
    pub fn kernel(mut self, name: impl Into<String>) -> Self {
        self.kernel = Some(name.into());
        self
    }

    /// Says which parameter it is about.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>) -> Self {
        self.parameter = Some(name.into());
        self
    }

    /// Points at another place.
    #[must_use]
    pub fn label(mut self, place: Place, text: impl Into<String>) -> Self {
        self.labels.push(Label { place, text: text.into() });
        self
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Display for Diagnostic {
    /// One line for the finding, one more for each label and for the help.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}[{}]: {}", self.place, self.severity, self.code, self.message)?;
        for label in &self.labels {
            write!(formatter, "\n  {}: {}", label.place, label.text)?;
        }
        match &self.help {
            Some(help) => write!(formatter, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}
