//! The files that a C++ compiler read.

use std::path::{Path, PathBuf};

use crate::frontend::paths::normal;

/// Who wrote a rule in make's notation, of which each has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// It has a backslash before a blank and `#`, and `$$` for a dollar.
    Clang,
    /// It has a backslash before a blank.
    Nvcc,
}

/// The inputs of a rule, as `-MD` writes it, absolute and each once.
pub(crate) fn inputs(rule: &str, folder: &Path, writer: Writer) -> Vec<PathBuf> {
    let mut words = words(rule, writer).into_iter();
    // The output, with its colon attached or by itself.
    while words.next().is_some_and(|word| !word.ends_with(':')) {}
    let path = |word: String| {
        let path = folder.join(&word);
        let is_there = path.symlink_metadata().is_ok();
        let other = if is_there { None } else { with_backslashes(folder, &word) };
        normal(&other.unwrap_or(path))
    };
    let mut inputs: Vec<_> = words.map(path).collect();
    inputs.sort();
    inputs.dedup();
    inputs
}

/// The file whose backslashes a compiler has written as slashes: it takes both for separators of folders, and on
/// Unix a backslash is a letter of a name.
#[cfg(unix)]
fn with_backslashes(folder: &Path, written: &str) -> Option<PathBuf> {
    let (folder, written) = match written.strip_prefix('/') {
        Some(rest) => (Path::new("/"), rest),
        None => (folder, written),
    };
    if written.is_empty() {
        return folder.is_file().then(|| folder.to_path_buf());
    }
    let (first, rest) = written.split_once('/').unwrap_or((written, ""));
    let plain = folder.join(first);
    let found = plain.symlink_metadata().ok().and_then(|_| with_backslashes(&plain, rest));
    found.or_else(|| {
        let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names = names.filter(|name| name.contains('\\'));
        names.find_map(|name| {
            let rest = written.strip_prefix(&name.replace('\\', "/"))?;
            let rest = if rest.is_empty() { rest } else { rest.strip_prefix('/')? };
            with_backslashes(&folder.join(name), rest)
        })
    })
}

/// The file whose backslashes a compiler has written as slashes, which name the same.
#[cfg(not(unix))]
fn with_backslashes(_: &Path, _: &str) -> Option<PathBuf> {
    None
}

/// Words between blanks; a backslash takes the meaning from a blank, `#` and `:`, joins lines, and
/// is itself before everything else.
fn words(text: &str, writer: Writer) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some('\r' | '\n')) => {}
            ('\\', Some(' ' | '#' | ':')) => word.extend(letters.next()),
            ('$', Some('$')) if writer == Writer::Clang => word.extend(letters.next()),
            (blank, _) if blank.is_ascii_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(letter),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_with_blanks_in_names_and_both_places_of_the_colon() {
        // Blanks of other scripts separate nothing.
        let expected =
            ["/opt/include/b.h", "/w/kernels/a b.cu", "/w/x$\u{3000}\u{a0}.h"].map(PathBuf::from);
        for head in ["/t/k.out :", "/t/k.out:"] {
            let rule = format!(
                "{head} kernels/a\\ b.cu \\\n    /opt/bin/../include/b.h \\\r\n x$$\u{3000}\u{a0}.h\n"
            );
            assert_eq!(inputs(&rule, Path::new("/w"), Writer::Clang), expected);
        }
        assert!(inputs("", Path::new("/w"), Writer::Clang).is_empty());
    }

    /// Cargo would build again each time for a file that is not there.
    #[cfg(unix)]
    #[test]
    fn dollars_and_backslashes_are_read_as_each_compiler_writes_them() {
        let names = ["$$b.h", "a\\ b.h", "a\\\\b.h", "x\\y/c\\d.h", "p/q.h", "p\\q.h"];
        let clang = "k.bc: $$$$b.h a/\\ b.h a//b.h x/y/c/d.h p/q.h p/z.h";
        let nvcc = "k.out : $$b.h a/\\ b.h a//b.h \\\n x/y/c/d.h p/q.h p/z.h";
        let folder = test_support::temporary_folder();
        for name in names {
            test_support::write_file(&folder, name, "");
        }
        let mut expected: Vec<_> = names.map(|name| folder.path().join(name)).into();
        expected.retain(|path| !path.ends_with("p\\q.h"));
        // What cannot be told is as it is written.
        expected.push(folder.path().join("p/z.h"));
        expected.sort();
        assert_eq!(inputs(clang, folder.path(), Writer::Clang), expected);
        assert_eq!(inputs(nvcc, folder.path(), Writer::Nvcc), expected);
    }
}
