//! Atomic writes: a file is written whole or not at all.

use super::error::Error;
use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write as _},
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

/// Who may read a file, and who may look into the folders that are made for it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Whoever the user lets read new files.
    AsUsual,
    /// The user alone: files have the mode 0600, folders 0700.
    UserAlone,
}

/// Writes a file so that others see all of it or nothing.
pub(crate) fn write(path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder, access)?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}.{count}.tmp", std::process::id()));
    let result = write_new(&temporary, bytes, access).and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// Makes a folder and those above it, where they are not there.
fn make_folder(folder: &Path, access: Access) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if access == Access::UserAlone {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)
}

fn write_new(path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    if access == Access::UserAlone {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)?.write_all(bytes)
}

/// Writes a file, unless it has this content already.
pub(crate) fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    write(path, bytes, Access::AsUsual).map_err(Error::io("write", path))
}
