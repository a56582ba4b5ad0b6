//! Temporary folders: one for each test, of a name that no other has, removed with its last user.

use crate::workspace::{root, target};
use std::{
    ffi::OsStr,
    fs,
    ops::{Deref, DerefMut},
    path::{Path, PathBuf},
};

pub use tempfile::TempDir;

/// How the names of temporary folders start.
const PREFIX: &str = "kernelmill-test-";

/// An empty folder that is removed when the value is dropped.
///
/// # Panics
///
/// When it cannot be made.
#[must_use]
pub fn temporary_folder() -> TempDir {
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir();
    folder.expect("a temporary folder can be made")
}

/// As [`temporary_folder`], in a folder that is chosen: one on the file system of large files.
///
/// # Panics
///
/// When it cannot be made.
#[must_use]
pub fn temporary_folder_in(parent: impl AsRef<Path>) -> TempDir {
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent);
    folder.expect("a temporary folder can be made")
}

/// Whether bytes have a path of this machine in them: of a temporary folder, of the workspace or of the
/// target folder.
#[must_use]
pub fn has_path_of_the_machine(bytes: &[u8]) -> bool {
    let target = target();
    let paths = [Path::new(PREFIX), root(), &target].map(|path| path.as_os_str());
    let paths = paths.map(OsStr::as_encoded_bytes);
    paths.iter().any(|path| bytes.windows(path.len()).any(|window| window == *path))
}

/// Writes a file below a folder, and makes the folders that it lies in.
///
/// # Panics
///
/// When it cannot be written.
pub fn write_file(
    folder: impl AsRef<Path>,
    name: impl AsRef<Path>,
    content: impl AsRef<[u8]>,
) -> PathBuf {
    let path = folder.as_ref().join(name);
    fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder");
    fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}

/// A value that names files of a temporary folder, which is kept as long as the value.
#[derive(Debug)]
pub struct InFolder<T> {
    value: T,
    folder: TempDir,
}

impl<T> InFolder<T> {
    /// Keeps the folder with the value.
    pub fn new(folder: TempDir, value: T) -> Self {
        Self { value, folder }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl<T> Deref for InFolder<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for InFolder<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_machine_are_found() {
        let path = temporary_folder().path().display().to_string();
        assert!(has_path_of_the_machine(format!("at {path}/k.rs").as_bytes()));
        assert!(has_path_of_the_machine(root().join("k.rs").as_os_str().as_encoded_bytes()));
        assert!(!has_path_of_the_machine(b"kernels/k.rs"));
    }

    #[test]
    fn folders_have_different_names_and_are_removed() {
        let (first, second) = (temporary_folder(), temporary_folder());
        assert_ne!(first.path(), second.path());
        let file = write_file(&first, "a/b.txt", "text");
        assert_eq!(fs::read_to_string(&file).unwrap(), "text");
        let kept = InFolder::new(first, file);
        assert!(kept.starts_with(kept.folder()));
        let path = kept.clone();
        drop(kept);
        assert!(!path.exists() && second.path().exists());
    }
}
