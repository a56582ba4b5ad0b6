//! Reports of diagnostics: the source line with the place marked, and what to write instead.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use kernelmill_compiler::diagnostic::{Code, Diagnostic, Place, Severity};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// Everything that was found wrong with a build, in the order in which people would read it.
#[derive(Clone, Debug, Default)]
pub struct Report {
    findings: Vec<Finding>,
    /// The texts that diagnostics point into, by the names the diagnostics use.
    texts: BTreeMap<String, Arc<str>>,
}

#[derive(Clone, Debug)]
enum Finding {
    /// Points into a text.
    Diagnostic(Diagnostic),
    /// Points at no text.
    Plain { code: Code, message: String, help: Option<String> },
    /// What a tool printed, as it printed it. rustc has codes of its own.
    Verbatim { code: Option<Code>, text: String },
}

impl Report {
    /// How many findings there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.findings.len()
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// Keeps a text, so that findings about it can show its lines.
    pub(crate) fn add_text(&mut self, file: &str, text: impl Into<Arc<str>>) {
        self.texts.insert(file.to_owned(), text.into());
    }

    pub(crate) fn diagnostic(&mut self, diagnostic: Diagnostic) {
        self.findings.push(Finding::Diagnostic(diagnostic));
    }

    pub(crate) fn plain(
        &mut self,
        code: Code,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let help = Some(help.into());
        self.findings.push(Finding::Plain { code, message: message.into(), help });
    }

    /// A message that says all there is to say; the same one twice is one finding.
    pub(crate) fn message(&mut self, code: Code, message: impl Into<String>) {
        let message = message.into();
        let is_known = self.findings.iter().any(|finding| match finding {
            Finding::Plain { message: known, .. } => *known == message,
            Finding::Diagnostic(_) | Finding::Verbatim { .. } => false,
        });
        if !is_known {
            self.findings.push(Finding::Plain { code, message, help: None });
        }
    }

    pub(crate) fn verbatim(&mut self, code: Option<Code>, text: impl Into<String>) {
        self.findings.push(Finding::Verbatim { code, text: text.into() });
    }

    /// A text of its own code, once.
    pub(crate) fn verbatim_once(&mut self, text: String) {
        let is_known = self.findings.iter().any(
            |finding| matches!(finding, Finding::Verbatim { text: known, .. } if *known == text),
        );
        if !is_known {
            self.verbatim(None, text);
        }
    }

    /// Whether all findings have one of these codes.
    pub(crate) fn is_of(&self, wanted: &[Code]) -> bool {
        self.codes().all(|code| code.is_some_and(|code| wanted.contains(&code)))
    }

    /// Whether a finding has this code.
    pub(crate) fn has(&self, wanted: Code) -> bool {
        self.codes().any(|code| code == Some(wanted))
    }

    /// The code of each finding.
    fn codes(&self) -> impl Iterator<Item = Option<Code>> {
        self.findings.iter().map(|finding| match finding {
            Finding::Diagnostic(Diagnostic { code, .. }) | Finding::Plain { code, .. } => {
                Some(*code)
            }
            Finding::Verbatim { code, .. } => *code,
        })
    }

    /// Adds what another report found and would have found without the faults in this one: not what may come of settings
    /// and sources that are wrong, as kernels that are not found, or instances that are not listed.
    pub(crate) fn add_certain(&mut self, other: Self) {
        let is_certain = |finding: &Finding| match finding {
            Finding::Diagnostic(Diagnostic { code, place, .. }) => {
                *code != Code::Instances && !place.file.ends_with(".toml")
            }
            Finding::Plain { code, .. } => !matches!(
                code,
                Code::NoKernels
                    | Code::MissingFile
                    | Code::NoKernelSource
                    | Code::UnsuitedTarget
                    | Code::DeviceLibrary
                    | Code::HostCode
                    | Code::Instances
            ),
            Finding::Verbatim { .. } => true,
        };
        for finding in other.findings.into_iter().filter(is_certain) {
            match finding {
                Finding::Verbatim { code: None, text } => self.verbatim_once(text),
                finding => self.findings.push(finding),
            }
        }
        self.texts.extend(other.texts);
    }

    /// `Err` with everything found, if anything was.
    pub(crate) fn into_result<E>(self, error: impl FnOnce(Self) -> E) -> Result<(), E> {
        if self.is_empty() { Ok(()) } else { Err(error(self)) }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.findings.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n\n")?;
            }
            match finding {
                Finding::Diagnostic(diagnostic) => {
                    formatter.write_str(&render(diagnostic, &self.texts))?;
                }
                Finding::Plain { code, message, help } => {
                    write!(formatter, "error[{code}]: {message}")?;
                    if let Some(help) = help {
                        write!(formatter, "\n  help: {help}")?;
                    }
                }
                Finding::Verbatim { code: None, text } => formatter.write_str(text.trim_end())?,
                Finding::Verbatim { code: Some(code), text } => {
                    formatter.write_str(&with_code(*code, text.trim_end()))?;
                }
            }
        }
        Ok(())
    }
}

/// A text of a tool or front end with a code at each error: at the start of a line, or behind a place.
pub(super) fn with_code(code: Code, text: &str) -> String {
    const ERROR: &str = "error: ";
    let marked = |line: &str| {
        let start = match line.strip_prefix(ERROR) {
            Some(_) => 0,
            None if line.starts_with([' ', '|', '=']) => return line.to_owned(),
            None => match line.find(&format!(": {ERROR}")) {
                Some(place) => place + 2,
                None => return line.to_owned(),
            },
        };
        format!("{}error[{code}]: {}", &line[..start], &line[start + ERROR.len()..])
    };
    text.lines().map(marked).collect::<Vec<_>>().join("\n")
}

/// A diagnostic with the lines it points at.
fn render(diagnostic: &Diagnostic, texts: &BTreeMap<String, Arc<str>>) -> String {
    let Some(text) = texts.get(&diagnostic.place.file) else { return diagnostic.to_string() };
    let number = diagnostic.code.to_string();
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut snippet = Snippet::source(&**text)
        .path(&*diagnostic.place.file)
        .annotation(AnnotationKind::Primary.span(within(text, &diagnostic.place)));
    let mut elsewhere = Vec::new();
    for label in &diagnostic.labels {
        if label.place.file == diagnostic.place.file {
            let span = within(text, &label.place);
            snippet =
                snippet.annotation(AnnotationKind::Context.span(span).label(label.text.as_str()));
        } else {
            elsewhere.push(label);
        }
    }
    let mut group =
        Group::with_title(level.primary_title(diagnostic.message.as_str()).id(number.as_str()));
    group = group.element(snippet);
    let notes: Vec<_> =
        elsewhere.iter().map(|label| format!("{}: {}", label.place, label.text)).collect();
    for note in &notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    Renderer::plain().render(&[group]).trim_end().to_owned()
}

/// The bytes of a place, kept inside the text.
fn within(text: &str, place: &Place) -> std::ops::Range<usize> {
    let end = place.span.end.min(text.len());
    place.span.start.min(end)..end
}

/// The place of a stretch of bytes in a text.
pub(crate) fn place(file: &str, text: &str, span: std::ops::Range<usize>) -> Place {
    let before = text.get(..span.start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Place {
        file: file.to_owned(),
        line: u32::try_from(line).unwrap_or(u32::MAX),
        column: u32::try_from(column).unwrap_or(u32::MAX),
        span,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_shows_its_line_marks_the_place_and_says_what_to_write() {
        let text = "#[kernel]\nfn fill(out: &mut [f32]) {}\n";
        let errors = kernelmill_compiler::frontend::rust::signature::read(text, "kernels/fill.rs");
        let mut report = Report::default();
        report.add_text("kernels/fill.rs", text);
        for error in errors.unwrap_err() {
            report.diagnostic(error);
        }
        report.plain(Code::NoKernels, "no kernels", "write one");
        let expected = "\
error[KM0040]: parameter `out` of kernel `fill` has type `&mut [f32]`, which cannot cross from host to device
 --> kernels/fill.rs:2:14
  |
2 | fn fill(out: &mut [f32]) {}
  |              ^^^^^^^^^^
  |
  = help: write `mut out: DisjointSlice<f32>`

error[KM0020]: no kernels
  help: write one";
        assert_eq!(report.to_string(), expected);
    }
}
