//! Target folders for builds of revisions: kept, so that what a package depends on is compiled once, and each used by
//! one comparison at a time. Cargo tells packages of one target folder apart by name and version, and so one of two
//! comparisons at once would read what the other has built.

use anyhow::{Context as _, Result};
use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
};

/// The file in a folder that is locked while the folder is used.
const LOCK: &str = "in-use.lock";

/// A target folder that nobody else uses until this is dropped.
pub(super) struct BuildFolder {
    pub(super) path: PathBuf,
    /// The operating system unlocks it when the process ends, however it does.
    _lock: File,
}

impl BuildFolder {
    /// The first free one of the folders `0`, `1` and so on.
    pub(super) fn in_folder(folder: &Path) -> Result<Self> {
        let mut number = 0_u32;
        loop {
            let path = folder.join(number.to_string());
            if let Some(lock) = lock(&path).with_context(|| path.display().to_string())? {
                return Ok(Self { path, _lock: lock });
            }
            number += 1;
        }
    }
}

/// Locks a folder, which is made where it is not there; `None` where it is in use.
fn lock(folder: &Path) -> Result<Option<File>> {
    fs::create_dir_all(folder)?;
    let file = File::options().write(true).create(true).truncate(false).open(folder.join(LOCK))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_at_once_have_folders_of_their_own_and_later_ones_use_them_again() {
        let folder = tempfile::tempdir().unwrap();
        let take = || BuildFolder::in_folder(folder.path()).unwrap();
        let name = |of: &BuildFolder| of.path.file_name().unwrap().to_owned();
        let (first, second) = (take(), take());
        assert_eq!((name(&first), name(&second)), ("0".into(), "1".into()));
        fs::write(first.path.join("built"), "").unwrap();
        drop(first);
        let again = take();
        assert!(name(&again) == "0" && again.path.join("built").is_file());
        assert_eq!(name(&take()), "2");
    }
}
