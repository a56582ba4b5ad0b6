//! The folder that rustc is given in place of a crate of which only a part is compiled.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use super::source::{Mirror, MirroredText};
use crate::{Error, frontend::paths::normal};

/// A [`Mirror`] that has been written.
pub(super) struct Written<'a> {
    mirror: &'a Mirror,
    folder: PathBuf,
}

impl<'a> Written<'a> {
    /// Writes the files below a folder.
    pub(super) fn new(mirror: &'a Mirror, folder: &Path) -> Result<Self, Error> {
        let written = Self { mirror, folder: folder.to_owned() };
        for MirroredText { path, text, .. } in &mirror.texts {
            written.put(path, &|to| fs::write(to, text.as_bytes()))?;
        }
        for path in &mirror.copies {
            written.put(path, &|to| fs::copy(path, to).map(drop))?;
        }
        Ok(written)
    }

    fn put(&self, path: &Path, write: &dyn Fn(&Path) -> std::io::Result<()>) -> Result<(), Error> {
        let to = self.of(path);
        let folder = to.parent().unwrap_or(&self.folder);
        let done = fs::create_dir_all(folder).and_then(|()| write(&to));
        done.map_err(|source| Error::Io { action: "write", path: to.clone(), source })
    }

    /// Where a file or a folder lies in it.
    pub(super) fn of(&self, path: &Path) -> PathBuf {
        let parts = path.components().filter(|part| !matches!(part, Component::RootDir));
        let name = |part: Component<'_>| match part {
            // A drive is a folder here.
            Component::Prefix(prefix) => {
                prefix.as_os_str().to_string_lossy().replace([':', '\\'], "_")
            }
            part => part.as_os_str().to_string_lossy().into_owned(),
        };
        self.folder.join(parts.map(name).collect::<PathBuf>())
    }

    /// Its own folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files that rustc read, as they are called outside; those of which only a part counts are left out.
    pub(super) fn originals(&self, inputs: Vec<PathBuf>) -> Vec<PathBuf> {
        let whole = self.mirror.texts.iter().filter(|it| it.is_whole).map(|it| &it.path);
        let known: Vec<_> =
            whole.chain(&self.mirror.copies).map(|path| (self.of(path), path)).collect();
        let original = |input: PathBuf| {
            let input = normal(&input);
            if !input.starts_with(&self.folder) {
                return Some(input);
            }
            known.iter().find(|(there, _)| *there == input).map(|(_, path)| (*path).clone())
        };
        inputs.into_iter().filter_map(original).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_at_their_paths_and_only_whole_ones_count_as_read() {
        let folder = test_support::temporary_folder();
        let data = folder.path().join("data.txt");
        fs::write(&data, "data").unwrap();
        let text = |name: &str, is_whole| MirroredText {
            path: Path::new("/app/src").join(name),
            text: name.into(),
            is_whole,
        };
        let mirror = Mirror {
            texts: vec![text("main.rs", false), text("blur/inner.rs", true)],
            copies: vec![data.clone()],
        };
        let written = Written::new(&mirror, &folder.path().join("mirror")).unwrap();
        let root = written.of(Path::new("/app/src/main.rs"));
        assert_eq!(root, folder.path().join("mirror/app/src/main.rs"));
        assert_eq!(fs::read_to_string(&root).unwrap(), "main.rs");
        let inner = root.with_file_name("blur").join("../blur/inner.rs");
        let other = PathBuf::from("/other.rs");
        let inputs = vec![root, inner, written.of(&data), other.clone()];
        let inner = PathBuf::from("/app/src/blur/inner.rs");
        assert_eq!(written.originals(inputs), [inner, data, other]);
    }
}
