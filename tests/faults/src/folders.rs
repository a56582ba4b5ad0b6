//! Folders that tests look into, copy and remove.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Every file below a folder, in the order of names; links and pipes too.
#[must_use]
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|data| data.is_dir());
    let mut found: Vec<_> = entries
        .map(|entry| entry.path())
        .flat_map(|path| if is_folder(&path) { files(&path) } else { vec![path] })
        .collect();
    found.sort();
    found
}

/// The entries of a store, without temporary files.
#[must_use]
pub fn entries(store: &Path) -> Vec<PathBuf> {
    let mut found = files(store);
    found.retain(|path| kind(path) != "tmp");
    found
}

/// The kind of an entry: `artifact`, `front` and so on.
#[must_use]
pub fn kind(entry: &Path) -> String {
    entry.extension().unwrap_or_default().to_string_lossy().into_owned()
}

/// Copies a folder, with times and rights, to a place where nothing is.
///
/// # Panics
///
/// Where it cannot be copied.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().expect("a folder lies in a folder")).expect("a folder");
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp runs");
    assert!(status.success(), "{} cannot be copied", from.display());
}

/// Removes a file, link or folder, where it is there.
///
/// # Panics
///
/// Where it cannot be removed.
pub fn remove(path: &Path) {
    let Ok(data) = path.symlink_metadata() else { return };
    let removed = if data.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
