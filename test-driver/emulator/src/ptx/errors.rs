//! Errors of the parser and the decoder, each with its line.

use std::fmt;

/// One thing in the PTX text that could not be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line of the text, from 1.
    pub line: u32,
    /// What is wrong there.
    pub message: String,
}

/// Errors past this number are not recorded: what one error leaves behind mostly makes the next.
pub(crate) const MOST_ERRORS: usize = 100;

/// Longest message, in characters.
const LONGEST: usize = 300;

impl ParseError {
    /// An error whose message is one line, whatever the text is that it names.
    pub(crate) fn new(line: u32, message: impl Into<String>) -> ParseError {
        let message: String = message.into();
        let plain = message.chars().flat_map(|c| {
            let escaped = c.is_control().then(|| c.escape_default());
            let kept = (!c.is_control()).then_some(c);
            escaped.into_iter().flatten().chain(kept)
        });
        let mut short: String = plain.take(LONGEST).collect();
        if short.chars().count() == LONGEST {
            short.push_str("...");
        }
        ParseError { line, message: short }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PTX line {}: {}", self.line, self.message)
    }
}

/// Everything in the PTX text that could not be understood, in the order of its lines.
///
/// ```
/// let errors = ptx_emulator::Module::parse(
///     ".version 6.3\n.target sm_75\n.visible .entry k()\n{\n\tmov.u32 %r1, 0;\n\tbra nowhere;\n}\n",
/// )
/// .unwrap_err();
/// assert_eq!(
///     errors.to_string(),
///     "PTX line 5: `%r1` is not declared\nPTX line 6: there is no label `nowhere`"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseErrors(pub(crate) Vec<ParseError>);

impl ParseErrors {
    /// The errors; there is at least one.
    pub fn errors(&self) -> &[ParseError] {
        &self.0
    }
}

impl fmt::Display for ParseErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ParseErrors {}
