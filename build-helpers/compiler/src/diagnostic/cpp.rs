//! Messages of C++ compilers and of NVIDIA's tools.

use std::fmt;

/// One message of a compiler.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Message {
    /// How bad it is.
    pub severity: MessageSeverity,
    /// What it says, in one line.
    pub text: String,
    /// The file as people know it and the line from 1, where the message is about one.
    pub place: Option<(String, u32)>,
    /// The lines that belong to it: the source line, and where a template was instantiated.
    pub details: Vec<String>,
}

/// How bad a [`Message`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MessageSeverity {
    /// Nothing was compiled.
    Error,
    /// Something was compiled, and is probably not what was meant.
    Warning,
    /// Neither.
    Note,
}

impl Message {
    /// Whether it is a warning.
    #[must_use]
    pub fn is_warning(&self) -> bool {
        self.severity == MessageSeverity::Warning
    }

    /// Whether it says that a header is not there: clang and nvcc have words of their own for that.
    #[must_use]
    pub fn lacks_header(&self) -> bool {
        ["No such file or directory", "file not found"].iter().any(|it| self.text.ends_with(it))
    }

    /// Whether it says that a header between quotes is not there, which no toolkit has.
    fn lacks_own_header(&self) -> bool {
        self.lacks_header() && self.details.iter().any(|line| line.contains("#include \""))
    }

    /// What to do, where the compiler's own words leave it open.
    fn help(&self) -> Option<&'static str> {
        if self.lacks_own_header() {
            return Some(
                "add the folder of the header to the setting `include`, or put the header beside this file",
            );
        }
        // Clang reads `X<T>::f<n>(a)`, which nvcc takes, as comparisons where `X<T>` depends on a template's parameters.
        let is_call = |line: &String| line.contains(">::") && line.contains(">(");
        let is_template = self.text.starts_with("reference to overloaded function could not")
            && self.details.iter().any(is_call);
        is_template.then_some(
            "write `template` before the name of a function template whose class depends on the parameters of another \
             template: `X<T>::template f<n>(a)`; nvcc takes it without",
        )
    }

    /// It in one line, `file:line: text`.
    #[must_use]
    pub fn line(&self) -> String {
        match &self.place {
            Some((file, line)) => format!("{file}:{line}: {}", self.text),
            None => self.text.clone(),
        }
    }
}

impl fmt::Display for Message {
    /// As rustc lays its messages out: what, where, and then the source.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            MessageSeverity::Error => "error",
            MessageSeverity::Warning => "warning",
            MessageSeverity::Note => "note",
        };
        write!(formatter, "{severity}: {}", self.text)?;
        if let Some((file, line)) = &self.place {
            write!(formatter, "\n --> {file}:{line}")?;
        }
        for line in &self.details {
            write!(formatter, "\n  | {line}")?;
        }
        self.help().map_or(Ok(()), |help| write!(formatter, "\n  help: {help}"))
    }
}
