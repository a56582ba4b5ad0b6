//! Copies of folders.

use anyhow::Result;
use std::{fs, path::Path};
use walkdir::WalkDir;

/// Copies a folder with what is in it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    for entry in WalkDir::new(from) {
        let entry = entry?;
        let target = to.join(entry.path().strip_prefix(from)?);
        if entry.file_type().is_dir() {
            fs::create_dir_all(target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
