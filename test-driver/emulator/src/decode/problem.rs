//! Problems of an instruction that is decoded.

/// What goes wrong while an instruction is decoded.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The emulator lacks it.
    Unsupported,
    /// It is not PTX.
    Error(String),
}

impl Problem {
    pub(crate) fn error<T>(message: impl Into<String>) -> Result<T, Problem> {
        Err(Problem::Error(message.into()))
    }
}
