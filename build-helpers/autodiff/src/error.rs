//! Errors: requests that do not fit, and functions that cannot be differentiated.

use std::fmt;

use kernelmill_llvm::ir::Value;

/// The reason why there is no derivative.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request does not fit the function.
    #[error("cannot differentiate `{function}`: {reason}")]
    Request {
        /// The function.
        function: String,
        /// What does not fit.
        reason: String,
    },
    /// The function uses features that have no derivative here.
    #[error("{}", UnsupportedFeatures(function, features))]
    Unsupported {
        /// The function.
        function: String,
        /// All of them, in the order of the source.
        features: Vec<Unsupported>,
    },
    /// LLVM failed.
    #[error(transparent)]
    Llvm(#[from] kernelmill_llvm::Error),
    /// The derivative that was written does not pass LLVM's verifier.
    #[error(
        "internal error of kernelmill-autodiff: the derivative of `{function}` is wrong: {message}; please report it"
    )]
    Internal {
        /// The function.
        function: String,
        /// What LLVM said.
        message: String,
    },
}

/// An operation in a function that cannot be differentiated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unsupported {
    /// The source file, where debug information has it.
    pub file: Option<String>,
    /// The line, from 1; 0 where it is not known.
    pub line: u32,
    /// The column, from 1; 0 where it is not known.
    pub column: u32,
    /// What is wrong, and what to do.
    pub message: String,
}

impl Unsupported {
    /// An operation at an instruction. Of its source locations through inlining, the innermost outside of
    /// libraries is named.
    pub(crate) fn at(instruction: Value<'_>, message: impl Into<String>) -> Self {
        let frames = instruction.debug_locations();
        let of_library = |file: &str| {
            let ours = ["kernelmill_device/", "kernelmill-cuda/"];
            ["library/core/", "library/std/", "library/alloc/"]
                .iter()
                .chain(&ours)
                .any(|part| file.contains(part))
        };
        let of_user = frames.iter().find(|frame| !of_library(&frame.file));
        let frame = of_user.or(frames.last());
        Self {
            file: frame.map(|frame| frame.file.clone()).filter(|file| !file.is_empty()),
            line: frame.map_or(0, |frame| frame.line),
            column: frame.map_or(0, |frame| frame.column),
            message: message.into(),
        }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => {
                write!(formatter, "{file}:{}:{}: {}", self.line, self.column, self.message)
            }
            None => formatter.write_str(&self.message),
        }
    }
}

struct UnsupportedFeatures<'a>(&'a str, &'a [Unsupported]);

impl fmt::Display for UnsupportedFeatures<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` cannot be differentiated:", self.0)?;
        for feature in self.1 {
            write!(formatter, "\n  {feature}")?;
        }
        Ok(())
    }
}
