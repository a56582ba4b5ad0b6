//! The files that a failed tool worked on, kept below the scratch folder with its command line.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use super::{limits::ToolLimits, scratch::TemporaryFolder};
use crate::Error;

/// A run of a tool on files of a temporary folder, which are kept if it fails.
#[derive(Clone, Copy)]
pub(crate) struct KeptRun<'a> {
    /// What the tool may take.
    pub(crate) limits: ToolLimits,
    /// The folder below which the files are kept.
    pub(crate) scratch: &'a Path,
    /// What they are kept under; the next failure of the same name replaces them.
    pub(crate) name: &'a str,
    /// What the tool works on.
    pub(crate) folder: &'a TemporaryFolder,
    /// The folder that it runs in, where its paths need one.
    pub(crate) root: Option<&'a Path>,
}

impl KeptRun<'_> {
    /// Runs the tool and gives what it printed, whether it succeeded or not.
    ///
    /// # Errors
    ///
    /// [`Error::Start`] where it cannot be run, [`Error::Ended`], with the files kept, where a signal ended it.
    pub(crate) fn output(&self, command: &mut Command) -> Result<Output, Error> {
        let mut result = self.limits.output(command, self.name);
        if let Err(Error::Ended { kept, .. }) = &mut result {
            *kept = self.keep(command);
        }
        result
    }

    /// Keeps the files, with the command line in `command.sh`.
    pub(crate) fn keep(&self, command: &Command) -> Option<PathBuf> {
        let Self { scratch, name, folder, root, .. } = *self;
        let plain = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '_' };
        let kept = scratch.join("failed").join(name.chars().map(plain).collect::<String>());
        let line =
            command_line(command).replace(&*folder.path.to_string_lossy(), &kept.to_string_lossy());
        let _ = fs::remove_dir_all(&kept);
        fs::create_dir_all(kept.parent()?).ok()?;
        let root = root.map(|root| format!("cd {} &&\n", quoted(&root.to_string_lossy())));
        let script = format!("#!/bin/sh\n{}{line}\n", root.unwrap_or_default());
        fs::write(folder.path.join("command.sh"), script).ok()?;
        fs::rename(&folder.path, &kept).ok()?;
        Some(kept)
    }
}

/// A command as a shell would take it.
fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=+/.,:@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_quoted_for_a_shell() {
        let mut command = Command::new("/opt/my nvcc");
        command.args(["-DA=1", "-DB='x'", "", "a.cu"]);
        assert_eq!(command_line(&command), r"'/opt/my nvcc' -DA=1 '-DB='\''x'\''' '' a.cu");
    }
}
