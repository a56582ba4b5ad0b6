//! What a cargo run printed.

use std::{
    path::{Path, PathBuf},
    process::Output,
};

/// A finished cargo run. Paths of the project are written `[project]`.
#[derive(Debug)]
pub struct Run {
    /// Whether cargo ended with 0.
    pub success: bool,
    /// What it printed.
    pub stdout: String,
    /// What it printed to standard error.
    pub stderr: String,
    folder: PathBuf,
}

/// `kernelmill: compiled N cached M`, in pairs of a source file and a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Pairs that were compiled.
    pub compiled: usize,
    /// Pairs that came from the store.
    pub cached: usize,
}

impl Run {
    pub(crate) fn new(output: Output, folder: &Path, target: &Path) -> Self {
        let tidy = |bytes: Vec<u8>| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let text = text.replace(&target.display().to_string(), "[target]");
            text.replace(&folder.join("package").display().to_string(), "[project]")
        };
        Self {
            success: output.status.success(),
            stdout: tidy(output.stdout),
            stderr: tidy(output.stderr),
            folder: folder.to_path_buf(),
        }
    }

    /// The same run.
    ///
    /// # Panics
    ///
    /// When it failed, with everything it printed.
    #[must_use]
    #[track_caller]
    pub fn succeeds(self) -> Self {
        assert!(
            self.success,
            "cargo failed in {}:\n{}\n{}",
            self.folder.display(),
            self.stdout,
            self.stderr
        );
        self
    }

    /// What the build script printed to standard error before it failed.
    ///
    /// # Panics
    ///
    /// When cargo did not fail in the build script.
    #[must_use]
    #[track_caller]
    pub fn build_script_error(self) -> String {
        assert!(!self.success, "cargo should fail:\n{}\n{}", self.stdout, self.stderr);
        let Some((_, message)) = self.stderr.split_once("--- stderr\n") else {
            panic!("no build script failed:\n{}", self.stderr);
        };
        let lines = message.lines().map(|line| line.strip_prefix("  ").unwrap_or(line));
        let lines: Vec<&str> = lines
            .take_while(|line| !line.starts_with("warning: build failed"))
            .map(str::trim_end)
            .collect();
        format!("{}\n", lines.join("\n").trim_end())
    }

    /// The counts that the build script printed; `None`: it did not run.
    #[must_use]
    pub fn summary(&self) -> Option<Summary> {
        let lines = self.stdout.lines().chain(self.stderr.lines());
        let mut counts = lines.filter_map(|line| line.split_once("kernelmill: compiled "));
        let (_, counts) = counts.next()?;
        let mut words = counts.split_whitespace();
        let compiled = words.next()?.parse().ok()?;
        let cached = words.nth(1)?.parse().ok()?;
        Some(Summary { compiled, cached })
    }
}
