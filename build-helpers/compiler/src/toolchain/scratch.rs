//! Files that tools read and write: temporary folders below the scratch folder.

use std::path::{Path, PathBuf};

use crate::Error;

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|source| Error::Io {
        action: "read",
        path: path.to_owned(),
        source,
    })
}

/// What a compiler that did not fail has written into a file.
pub(crate) fn read_output(path: &Path, program: &Path, display: &str) -> Result<Vec<u8>, Error> {
    match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::NoOutput { program: program.to_owned(), display: display.to_owned() })
        }
        read => read.map_err(|source| Error::Io { action: "read", path: path.to_owned(), source }),
    }
}

/// A folder that is removed when it is dropped.
pub(crate) struct TemporaryFolder {
    pub(crate) path: PathBuf,
}

impl TemporaryFolder {
    /// A new folder under `parent`, with a name that starts with letters of `hint`.
    pub(crate) fn new(parent: &Path, hint: &str) -> Result<Self, Error> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let hint: String = hint.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{hint}.{}.{count}.tmp", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|source| Error::Io {
            action: "create",
            path: path.clone(),
            source,
        })?;
        Ok(Self { path })
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // A folder that cannot be removed lies among other temporary files and harms nothing.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Puts text into a file of a folder.
pub(crate) fn write(folder: &TemporaryFolder, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
    let path = folder.path.join(name);
    std::fs::write(&path, bytes).map_err(|source| Error::Io {
        action: "write",
        path: path.clone(),
        source,
    })?;
    Ok(path)
}
