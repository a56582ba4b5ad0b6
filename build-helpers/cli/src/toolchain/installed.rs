//! Installed tools: one folder for each version, `cuda-13.4`.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The folders of installed tools, by their names.
pub(super) fn installed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<_> = entries.map(|entry| entry.path()).collect();
    found.retain(|path| path.is_dir() && path.extension().is_none_or(|it| it != "part"));
    found.sort();
    found
}

/// A name beside a folder under which no build looks for tools.
pub(super) fn unused(folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    folder.with_file_name(format!("{name}.{}.part", std::process::id()))
}
