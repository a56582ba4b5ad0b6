//! The files that a C++ compiler read.

use std::path::{Component, Path, PathBuf};

/// The inputs of a rule in make's notation, as `-MD` writes it, absolute and each once.
pub(crate) fn inputs(rule: &str, folder: &Path) -> Vec<PathBuf> {
    let mut words = words(rule).into_iter();
    // The output, with its colon attached or by itself.
    while words.next().is_some_and(|word| !word.ends_with(':')) {}
    let mut inputs: Vec<_> = words.map(|word| normal(&folder.join(word))).collect();
    inputs.sort();
    inputs.dedup();
    inputs
}

/// Words between blanks; a backslash takes the meaning from a blank, `#` and `:`, joins lines, and
/// is itself before everything else. `$$` is a dollar.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some('\r' | '\n')) => {}
            ('\\', Some(' ' | '#' | ':')) | ('$', Some('$')) => word.extend(letters.next()),
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

/// A path without `.` and `..`, as it is written.
fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if result.file_name().is_some() => {
                result.pop();
            }
            // Above the root there is the root.
            Component::ParentDir if result.has_root() => {}
            other => result.push(other),
        }
    }
    result
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
            assert_eq!(inputs(&rule, Path::new("/w")), expected);
        }
        assert!(inputs("", Path::new("/w")).is_empty());
    }
}
