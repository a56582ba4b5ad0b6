//! Includes of C++ files, as far as their text tells before a compiler has read them.

use super::{
    candidate::{is_special, read_if_small},
    language::Language,
};
use crate::base::paths;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The files that a C++ text includes, directly or not, from the package itself and from the folders
/// for headers; those of systems and toolkits are not looked at.
#[derive(Debug, Default)]
pub(crate) struct Included {
    /// Absolute, with the text of each.
    pub(crate) files: Vec<(PathBuf, String)>,
    /// Whether a name is made by a macro, or files include each other too deeply or have too many bytes, so that
    /// there may be more.
    pub(crate) is_open: bool,
    /// The bytes of all texts.
    bytes: u64,
    /// Named pipes, sockets and devices in place of files.
    pub(crate) special: BTreeSet<PathBuf>,
}

/// How deep includes are followed: compilers stop at 200.
const MAX_DEPTH: usize = 200;
/// The bytes of the files that are followed, together: their texts are in memory at a time.
const MAX_BYTES: u64 = 256 << 20;

impl Included {
    /// Follows the `#include` lines of a file, under whatever condition they stand.
    pub(crate) fn by(path: &Path, text: &str, folders: &[PathBuf]) -> Self {
        let mut included = Self::default();
        let mut seen = BTreeSet::from([path.to_owned()]);
        included.follow(path, text, folders, &mut seen, 0);
        included
    }

    fn follow(
        &mut self,
        path: &Path,
        text: &str,
        folders: &[PathBuf],
        seen: &mut BTreeSet<PathBuf>,
        depth: usize,
    ) {
        if depth > MAX_DEPTH {
            self.is_open = true;
            return;
        }
        for name in text.lines().filter_map(argument) {
            let Some(name) = Name::read(name) else {
                self.is_open = true;
                continue;
            };
            let own = path.parent().filter(|_| name.is_quoted).into_iter();
            let places = own.chain(folders.iter().map(PathBuf::as_path));
            let found = places.map(|folder| paths::normal(&folder.join(name.text)));
            let is_there = |file: &PathBuf| file.is_file() || is_special(file);
            let Some(file) = found.into_iter().find(is_there) else { continue };
            if is_special(&file) {
                self.special.insert(file);
                continue;
            }
            if !seen.insert(file.clone()) {
                continue;
            }
            self.bytes += fs::metadata(&file).map_or(0, |data| data.len());
            if self.bytes > MAX_BYTES {
                self.is_open = true;
                return;
            }
            let Some(bytes) = read_if_small(&file) else { continue };
            let text = String::from_utf8_lossy(&bytes).into_owned();
            self.follow(&file, &text, folders, seen, depth + 1);
            self.files.push((file, text));
        }
    }
}

/// Which C++ files are sources of kernels: what is asked before any of them is compiled.
#[derive(Debug, Default)]
pub(crate) struct Headers {
    /// The folders for headers.
    folders: Vec<PathBuf>,
    /// The files that another one of those that look like sources includes.
    fragments: BTreeSet<PathBuf>,
    /// What files include and is no file.
    pub(crate) special: BTreeSet<PathBuf>,
}

impl Headers {
    /// Looks at the files that look like sources.
    pub(crate) fn new<'a>(files: impl Iterator<Item = &'a Path>, folders: Vec<PathBuf>) -> Self {
        let (mut fragments, mut special) = (BTreeSet::new(), BTreeSet::new());
        // Reading a named pipe would wait for whoever writes to it.
        for file in files.filter(|file| file.is_file()) {
            let Some(bytes) = read_if_small(file) else { continue };
            let included = Included::by(file, &String::from_utf8_lossy(&bytes), &folders);
            fragments.extend(included.files.into_iter().map(|(path, _)| path));
            special.extend(included.special);
        }
        Self { folders, fragments, special }
    }

    /// Whether a file without a kernel in its own text may get one from what it includes, for
    /// example by a macro. One that others include is there for them. The files that this depends
    /// on are added to `watched`.
    pub(crate) fn may_bring_kernel(
        &self,
        language: Language,
        path: &Path,
        text: &str,
        watched: &mut Vec<PathBuf>,
    ) -> bool {
        if self.fragments.contains(path) {
            return false;
        }
        let Included { files, is_open, .. } = Included::by(path, text, &self.folders);
        let has_kernel = files.iter().any(|(_, text)| language.may_hold_kernel(text));
        watched.extend(files.into_iter().map(|(path, _)| path));
        has_kernel || is_open
    }
}

/// What stands behind `#include`.
fn argument(line: &str) -> Option<&str> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = directive.strip_prefix("include")?;
    rest.starts_with([' ', '\t', '"', '<']).then(|| rest.trim_start())
}

/// `"name"` or `<name>`.
struct Name<'a> {
    text: &'a str,
    is_quoted: bool,
}

impl<'a> Name<'a> {
    /// `None` where it is neither.
    fn read(argument: &'a str) -> Option<Self> {
        let is_quoted = argument.starts_with('"');
        let end = if is_quoted { '"' } else { '>' };
        let rest = argument.strip_prefix(['"', '<'])?;
        let (text, _) = rest.split_once(end)?;
        Some(Self { text, is_quoted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{base::paths, test_support::Project};

    #[test]
    fn includes_are_followed_from_file_to_file_once_each() {
        let files = [
            ("kernels/a.cu", "#include \"b.cuh\"\n# include <c.cuh>\n#include <vector>\n"),
            ("kernels/b.cuh", "#pragma once\n#include \"deep/d.h\"\n#includes\n"),
            ("kernels/deep/d.h", "#include \"../b.cuh\"\n"),
            ("include/c.cuh", "// #include \"b.cuh\"\n"),
        ];
        let project = Project::new("", &files);
        let root = project.folder.path().join("app");
        let (path, folders) = (root.join("kernels/a.cu"), [root.join("include")]);
        let included = Included::by(&path, files[0].1, &folders);
        let names: Vec<_> =
            included.files.iter().map(|(path, _)| paths::relative(&root, path)).collect();
        assert_eq!(names, ["kernels/deep/d.h", "kernels/b.cuh", "include/c.cuh"]);
        assert!(!included.is_open);
        assert!(Included::by(&path, "#include HEADER\n", &[]).is_open);
    }

    #[test]
    fn files_that_include_each_other_deeply_are_left_to_the_compiler() {
        let project = Project::new("", &[]);
        for number in 0..10_000 {
            let text = format!("#include \"{}.h\"\n", number + 1);
            project.write(&format!("app/kernels/{number}.h"), &text);
        }
        let path = project.folder.path().join("app/kernels/a.cu");
        let included = Included::by(&path, "#include \"0.h\"\n", &[]);
        assert!(included.is_open);
        assert_eq!(included.files.len(), MAX_DEPTH + 1);
    }

    /// The headers have no blocks on the disk, and reading them would take that much memory.
    #[test]
    fn headers_of_gigabytes_are_left_to_the_compiler() {
        let files =
            [("kernels/b.h", ""), ("kernels/c.h", "#include \"d.h\"\n"), ("kernels/d.h", "")];
        let project = Project::new("", &files);
        let kernels = project.folder.path().join("app/kernels");
        let included = |text: &str| {
            let included = Included::by(&kernels.join("a.cu"), text, &[]);
            (included.files.len(), included.is_open)
        };
        let resize = |bytes| {
            let file = fs::File::options().write(true).open(kernels.join("b.h")).unwrap();
            file.set_len(bytes).unwrap();
        };
        resize(1 << 20);
        assert_eq!(included("#include \"b.h\"\n#include \"c.h\"\n"), (3, false));
        resize((256 << 20) + 1);
        assert_eq!(included("#include \"b.h\"\n#include \"c.h\"\n"), (0, true));
        assert_eq!(included("#include \"c.h\"\n#include \"b.h\"\n"), (2, true));
    }
}
