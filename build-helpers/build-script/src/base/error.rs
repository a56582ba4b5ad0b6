//! Errors of a build, for callers of [`Build::try_compile`](crate::Build::try_compile).

use super::report::{Report, with_code};
use kernelmill_compiler::{diagnostic::Code, limit_behind};
use std::{io, path::PathBuf};

/// Why a build failed. Its text is meant for people: it names every error that was found, where
/// it is, and what to write instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Settings that cannot be used: unknown keys, unknown targets, values of the wrong type.
    #[error("{0}")]
    Settings(Report),
    /// Kernel sources that cannot be used: none at all, languages without a compiler, signatures
    /// that a host cannot call, sources that cannot reach a target.
    #[error("{0}")]
    Sources(Report),
    /// Kernels that do not compile, with every unit's errors.
    #[error("{0}")]
    Kernels(Report),
    /// A variable that Cargo sets for build scripts is not set.
    #[error(
        "the environment variable {variable}, which Cargo sets for build scripts, is not set: call kernelmill-build in build.rs"
    )]
    NotInBuildScript {
        /// Its name.
        variable: &'static str,
    },
    /// A tool of the Rust toolchain could not be used.
    #[error("{0}")]
    Toolchain(String),
    /// A tool that was named or found could not be run, or did not answer as such a tool does.
    #[error("{0}")]
    Tool(String),
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}{}", path.display(), limit_behind(source))]
    Io {
        /// What was tried, for example `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The store of compiled kernels cannot be used: its folder is not known, or not the user's alone.
    #[error("{0}")]
    Store(String),
    /// kernelmill broke one of its own rules.
    #[error("internal error of kernelmill: {0}; please report it")]
    Internal(String),
}

impl Error {
    /// The code of the error. `None` for reports, in which each finding has its own.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        Some(match self {
            Self::Settings(_) | Self::Sources(_) | Self::Kernels(_) => return None,
            Self::NotInBuildScript { .. } => Code::NotInBuildScript,
            Self::Toolchain(_) => Code::RustToolchain,
            Self::Tool(_) => Code::ToolFailed,
            Self::Io { .. } => Code::Files,
            Self::Store(_) => Code::Store,
            Self::Internal(_) => Code::Internal,
        })
    }

    /// The error as a build script prints it: with `error`, and the code of each finding.
    pub(crate) fn rendered(&self) -> String {
        let text = self.to_string();
        match self.code() {
            None => text,
            // What the store says is a whole message.
            Some(code) if text.starts_with("error: ") => with_code(code, &text),
            Some(code) => format!("error[{code}]: {text}"),
        }
    }

    /// For `map_err`: `cannot {action} {path}`.
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}
