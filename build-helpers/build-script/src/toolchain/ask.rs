//! Versions and other answers of tools about themselves.

use super::search::Search;
use crate::{base::error::Error, store::digests::settled_state};
use kernelmill_artifact::Fingerprint;
use kernelmill_compiler::{limit_behind, limit_told};
use kernelmill_store::{KeyBuilder, Store};
use std::{
    fs,
    io::Read,
    path::Path,
    process::{Command, Output},
};

impl Search<'_> {
    /// What a tool prints. The answer is remembered for as long as the tool's file stays the same;
    /// scripts are asked every time, for they may start other programs.
    pub(crate) fn ask(&self, program: &Path, arguments: &[&str]) -> Result<String, Error> {
        let key = key(program, arguments);
        let known = key.as_ref().and_then(|key| remembered(&self.memory, key));
        if let Some(answer) = known {
            return Ok(answer);
        }
        let answer = ask(program, arguments)?;
        if let Some(key) = key {
            self.memory.put("asked", &key, answer.as_bytes());
        }
        Ok(answer)
    }
}

fn remembered(memory: &Store, key: &Fingerprint) -> Option<String> {
    String::from_utf8(memory.get("asked", key)?).ok()
}

/// The file that would answer, by its name and what the file system says of it, which no program can set
/// back; `None` for a script, for a file that was written just now, and for what cannot be looked at.
fn key(program: &Path, arguments: &[&str]) -> Option<Fingerprint> {
    let file = fs::canonicalize(program).ok()?;
    let mut start = [0; 2];
    fs::File::open(&file).ok()?.read_exact(&mut start).ok()?;
    if start == *b"#!" {
        return None;
    }
    let key = KeyBuilder::new("asked")
        .part("program", program.to_string_lossy().as_bytes())
        .part("file", file.to_string_lossy().as_bytes())
        .part("state", settled_state(&file)?)
        .parts("argument", arguments);
    Some(key.finish())
}

/// What a tool prints, asked now.
pub(super) fn ask(program: &Path, arguments: &[&str]) -> Result<String, Error> {
    let failed =
        |why: String| Error::Tool(format!("`{} {}` {why}", program.display(), arguments.join(" ")));
    let output = run(program, arguments).map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let printed = String::from_utf8_lossy(&output.stderr);
        // What else a tool prints that has reached a limit is about itself.
        return Err(failed(match limit_told(&printed) {
            limit if limit.is_empty() => format!("failed:\n{}", printed.trim()),
            limit => format!("failed{limit}"),
        }));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a tool; the error's text goes on after the command line.
pub(super) fn run(program: &Path, arguments: &[&str]) -> std::io::Result<Output> {
    Command::new(program).args(arguments).output().map_err(|error| {
        let limit = limit_behind(&error);
        std::io::Error::new(error.kind(), format!("cannot be run: {error}{limit}"))
    })
}

/// The major version of the LLVM in a Rust toolchain, by what `rustc -vV` printed.
pub(crate) fn llvm_of_rustc(version: &str) -> Option<u32> {
    let line = version.lines().find_map(|line| line.strip_prefix("LLVM version: "))?;
    line.split('.').next()?.trim().parse().ok()
}
