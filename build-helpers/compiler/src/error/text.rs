//! Parts of the texts of errors.

use std::{fmt, path::Path};

use kernelmill_artifact::Target;

use super::faults::ParameterSpace;
use crate::diagnostic::{Message, MessageSeverity, PluginFault, SignatureError};

/// A text after a line break; nothing where it is empty.
pub(super) fn after_newline(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() { String::new() } else { format!("\n{text}") }
}

/// The last line of an error of a tool: where what it worked on is.
pub(super) struct KeptInput<'a>(pub(super) Option<&'a Path>);

impl fmt::Display for KeptInput<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |kept| {
            write!(formatter, "\nnote: its command line and its input are in {}", kept.display())
        })
    }
}

/// How the messages of nvcc and clang about a launch in device code start.
const LAUNCHES: [&str; 2] = [
    "kernel launch from __device__ or __global__ functions requires",
    "kernel launch from __device__ or __global__ function requires",
];

pub(super) struct CppMessages<'a> {
    pub(super) tool: &'a str,
    pub(super) messages: &'a [Message],
    pub(super) kept: Option<&'a Path>,
}

impl fmt::Display for CppMessages<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for message in self.messages {
            write!(formatter, "{message}\n\n")?;
        }
        if !self.messages.iter().any(|message| message.severity == MessageSeverity::Error) {
            write!(formatter, "error: {} failed without an error message\n\n", self.tool)?;
        }
        if self
            .messages
            .iter()
            .any(|message| LAUNCHES.iter().any(|it| message.text.starts_with(it)))
        {
            write!(
                formatter,
                "help: kernels that launch kernels (dynamic parallelism) are not supported: launch the inner kernel from \
                 the host, after the outer one on the same stream, or call its body as a `__device__` function\n\n"
            )?;
        }
        match self.kept {
            Some(kept) => write!(
                formatter,
                "note: the command line of {} and its inputs are in {}",
                self.tool,
                kept.display()
            ),
            None => Ok(()),
        }
    }
}

pub(super) struct TooLarge<'a>(
    pub(super) &'a Target,
    pub(super) u64,
    pub(super) &'a [ParameterSpace],
);

impl fmt::Display for TooLarge<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(target, limit, kernels) = self;
        for (index, kernel) in kernels.iter().enumerate() {
            let ParameterSpace { file, line, kernel, bytes, parameters } = kernel;
            if index > 0 {
                formatter.write_str("\n")?;
            }
            write!(
                formatter,
                "{file}:{line}: the parameters of kernel `{kernel}` take {bytes} bytes, and \
                 {target} has space for {limit}:"
            )?;
            for (name, ty, size) in parameters {
                write!(formatter, "\n  {size:>6} bytes: {name}: {ty}")?;
            }
        }
        formatter.write_str("\n  help: pass the large ones as slices, which take 16 bytes each")
    }
}

/// Signatures that cannot be read, which is an internal error but where the reader was left out.
pub(super) struct Unreadable<'a>(pub(super) &'a SignatureError);

impl fmt::Display for Unreadable<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            error @ SignatureError::NoReader { .. } => write!(formatter, "{error}"),
            error => write!(formatter, "internal error of kernelmill: {error}; please report it"),
        }
    }
}

pub(super) struct PluginFaults<'a>(pub(super) &'a [PluginFault]);

impl fmt::Display for PluginFaults<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            let separator = if index > 0 { "\n" } else { "" };
            write!(formatter, "{separator}{fault}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_that_cannot_be_read_are_a_fault_of_kernelmill_if_there_is_a_reader() {
        let file = "kernels/a.cu".to_owned();
        let without = SignatureError::NoReader { file: file.clone() };
        assert_eq!(Unreadable(&without).to_string(), without.to_string());
        let damaged = SignatureError::Malformed { file, reason: "no abbreviations".to_owned() };
        assert_eq!(
            Unreadable(&damaged).to_string(),
            "internal error of kernelmill: kernels/a.cu: cannot read the debug information of the compiled code: no \
             abbreviations; please report it"
        );
    }

    #[test]
    fn a_kernel_that_launches_kernels_says_what_to_do() {
        let said = |text: &str| {
            let message = Message {
                severity: MessageSeverity::Error,
                text: text.to_owned(),
                place: None,
                details: Vec::new(),
            };
            CppMessages { tool: "clang", messages: &[message], kept: None }.to_string()
        };
        let help = "help: kernels that launch kernels (dynamic parallelism) are not supported";
        for start in LAUNCHES {
            assert!(said(&format!("{start} relocatable device code")).contains(help), "{start}");
        }
        assert!(!said("kernel launch without a size").contains(help));
    }
}
