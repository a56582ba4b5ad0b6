//! Digest of a compiler's own sources, for its cache keys.

use hmac_sha256::Hash;
use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

/// A digest of the names and contents of all files in some folders, as 64
/// hexadecimal digits: SHA-256.
///
/// It is for the build script of a crate that changes what kernels are compiled to, for example a
/// plugin. The crate makes it part of its version, so that artifacts of an older state of its
/// sources are not reused. A folder that does not exist has no files. The build script names this crate with
/// its feature `source-digest`.
///
/// ```no_run
/// // The build script of a plugin, whose `version` has `env!("PLUGIN_DIGEST")`.
/// # fn main() -> std::io::Result<()> {
/// let folder = std::path::Path::new("src");
/// println!("cargo::rerun-if-changed={}", folder.display());
/// println!("cargo::rustc-env=PLUGIN_DIGEST={}", kernelmill_artifact::source_digest(&[folder])?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// When a file or folder cannot be read; the error names it.
pub fn source_digest<P: AsRef<Path>>(folders: &[P]) -> io::Result<String> {
    let mut digest = Hash::new();
    for folder in folders.iter().map(AsRef::as_ref).filter(|folder| folder.is_dir()) {
        add(folder, &mut digest)?;
    }
    Ok(written(digest))
}

/// A digest of texts and their names, as 64 hexadecimal digits: SHA-256.
///
/// ```
/// let digest = |text| kernelmill_artifact::text_digest([("name", text)]);
/// assert_ne!(digest("a"), digest("b"));
/// ```
#[must_use]
pub fn text_digest<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut digest = Hash::new();
    for (name, text) in texts {
        field(name.as_bytes(), &mut digest);
        field(text.as_bytes(), &mut digest);
    }
    written(digest)
}

/// The digits of a digest.
fn written(digest: Hash) -> String {
    let mut text = String::new();
    for byte in digest.finalize() {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Adds the files of a folder in the order of their names.
fn add(folder: &Path, digest: &mut Hash) -> io::Result<()> {
    let at = |path: &Path, error: io::Error| {
        io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    };
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|error| at(folder, error))?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    digest.update((paths.len() as u64).to_le_bytes());
    for path in paths {
        field(path.file_name().unwrap_or_default().as_encoded_bytes(), digest);
        if path.is_dir() {
            add(&path, digest)?;
        } else {
            field(&fs::read(&path).map_err(|error| at(&path, error))?, digest);
        }
    }
    Ok(())
}

/// Adds bytes with their length in front, so that the end of a field is unambiguous.
fn field(bytes: &[u8], digest: &mut Hash) {
    digest.update((bytes.len() as u64).to_le_bytes());
    digest.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_support::{temporary_folder, write_file};

    fn digest(files: &[(&str, &str)]) -> String {
        let root = temporary_folder();
        for (path, text) in files {
            write_file(&root, path, text);
        }
        source_digest(&[root.path(), &root.path().join("missing")]).unwrap()
    }

    #[test]
    fn a_digest_is_of_names_contents_and_folders_and_not_of_where_they_lie() {
        let all: Vec<String> = [
            ("one", [("a", "12"), ("b", "3")]),
            ("content", [("a", "1"), ("b", "23")]),
            ("name", [("a", "12"), ("c", "3")]),
            ("folder", [("a", "12"), ("d/b", "3")]),
            ("ends of names", [("a", "b"), ("c", "")]),
            ("ends of contents", [("a", ""), ("bc", "")]),
        ]
        .iter()
        .map(|(_, files)| digest(files))
        .collect();
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len(), "{all:?}");
        assert_eq!(all[0], digest(&[("b", "3"), ("a", "12")]));
    }

    #[test]
    fn no_folder_is_no_file() {
        let none = source_digest::<&Path>(&[]).unwrap();
        assert_eq!(none, source_digest(&["/nonexistent/kernelmill"]).unwrap());
        assert_eq!(none.len(), 64);
    }
}
