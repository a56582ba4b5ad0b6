//! Unique names for files, symbols and libraries.

use kernelmill_store::digest;
use std::collections::BTreeMap;

/// A text as a name in C: every other character is an underscore, and a digest of the whole text
/// keeps it apart from texts that only differ in those.
pub(crate) fn identifier(text: &str) -> String {
    let digest = digest(text.as_bytes()).to_string();
    format!("{}_{}", letters(text), &digest[..8])
}

/// The name of a source that is unique in every program: part of the symbols of CPU kernels.
/// `defines` are the macros that only this compilation of it has.
pub(crate) fn unit(
    package: &str,
    major: &str,
    (source, defines): (&str, &BTreeMap<String, String>),
) -> String {
    let defines = if defines.is_empty() { String::new() } else { format!(" {defines:?}") };
    let digest = digest(format!("{package} {major} {source}{defines}").as_bytes()).to_string();
    format!("{}_{}_{}", letters(package), letters(stem(source)), &digest[..12])
}

/// A short name for each source, for files: its stem, with the folders it is in where stems
/// clash, also on file systems that do not tell letters' case.
pub(crate) fn file_stems(displays: &[&str]) -> Vec<String> {
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for display in displays {
        *uses.entry(stem(display).to_lowercase()).or_default() += 1;
    }
    displays
        .iter()
        .map(|display| match uses[&stem(display).to_lowercase()] {
            1 => stem(display).to_owned(),
            _ => identifier(display),
        })
        .collect()
}

/// A target's name as part of a file's name.
pub(crate) fn target(name: &str) -> String {
    name.replace(':', "-")
}

/// The name of a file without its extension, or of a module of the crate's own source.
fn stem(display: &str) -> &str {
    let name = display.rsplit('/').next().unwrap_or(display);
    name.rsplit_once("::").map_or_else(|| without_extension(name), |(_, module)| module)
}

fn without_extension(name: &str) -> &str {
    ["rs", "cu", "hip", "cl"]
        .iter()
        .find_map(|it| name.strip_suffix(it)?.strip_suffix('.'))
        .unwrap_or(name)
}

/// A text with an underscore in place of what is neither letter nor digit.
pub(crate) fn letters(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Whether a text is a name in Rust and in C.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut letters = text.bytes();
    text != "_"
        && letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stems_get_their_folders() {
        let stems = file_stems(&["kernels/a/x.rs", "kernels/b/X.rs", "kernels/y.rs"]);
        assert!(stems[0].starts_with("kernels_a_x_") && stems[1].starts_with("kernels_b_X_"));
        assert_eq!(stems[2], "y");
    }

    #[test]
    fn units_of_different_sources_and_packages_differ() {
        let names = [
            unit("app", "1", ("kernels/a-b.rs", &BTreeMap::new())),
            unit("app", "1", ("kernels/a-b.rs", &[("T".to_owned(), "1".to_owned())].into())),
            unit("app", "1", ("kernels/a_b.rs", &BTreeMap::new())),
            unit("app", "0.2", ("kernels/a_b.rs", &BTreeMap::new())),
            unit("app2", "1", ("kernels/a_b.rs", &BTreeMap::new())),
        ];
        for (index, name) in names.iter().enumerate() {
            assert!(is_identifier(name), "{name}");
            assert!(!names[..index].contains(name));
        }
        assert!(names[0].starts_with("app_a_b_"));
    }
}
