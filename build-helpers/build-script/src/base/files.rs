//! Atomic writes: a file is written whole or not at all.

use super::error::Error;
use std::{
    fs, io,
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

/// Writes a file so that others see all of it or nothing.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}.{count}.tmp", std::process::id()));
    let result = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// Writes a file, unless it has this content already.
pub(crate) fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    write(path, bytes).map_err(Error::io("write", path))
}
