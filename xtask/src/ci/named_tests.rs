//! Tests that pages name: `path/of/file.rs::name` in the code of a page is a test of that file, or a kernel of
//! `tests/conformance`, each of which has a test of its name.

use crate::workspace::Workspace;
use std::{fs, path::Path};

/// The kernels that the suite runs one by one.
const KERNELS: &str = "tests/conformance/kernels/";

/// A name in the code of a page: the file, and the test in it.
pub(super) fn parse(code: &str) -> Option<(&str, &str)> {
    let (file, name) = code.split_once(".rs::")?;
    let is_name = |text: &str| text.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    let is_path = file.contains('/') && file.split(['/', '-', '.']).all(is_name);
    (is_path && !name.is_empty() && is_name(name)).then(|| (&code[..file.len() + 3], name))
}

/// Why there is no such test; `None` where there is.
pub(super) fn fault(workspace: &Workspace, file: &str, name: &str) -> Option<String> {
    let Ok(text) = fs::read_to_string(Path::new(&workspace.root).join(file)) else {
        return Some(format!("there is no `{file}`"));
    };
    let attribute = if file.starts_with(KERNELS) { "#[kernel" } else { "#[test]" };
    (!has(&text, attribute, name)).then(|| format!("`{file}` has no test `{name}`"))
}

/// Whether a file has a function of this name below such an attribute, and no `#[ignore]`.
fn has(text: &str, attribute: &str, name: &str) -> bool {
    let (mut is_marked, mut is_ignored) = (false, false);
    for line in text.lines().map(str::trim) {
        if line.starts_with(attribute) {
            is_marked = true;
        } else if line.starts_with("#[ignore") {
            is_ignored = true;
        } else if !(line.starts_with("//") || line.starts_with("#[")) {
            let function =
                line.split_once("fn ").and_then(|(_, rest)| rest.split(['(', '<']).next());
            if is_marked && !is_ignored && function == Some(name) {
                return true;
            }
            (is_marked, is_ignored) = (false, false);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{has, parse};

    #[test]
    fn names_of_tests_are_told_from_other_code() {
        let name = "tests/a-b/src/c.rs::d_1";
        assert_eq!(parse(name), Some(("tests/a-b/src/c.rs", "d_1")));
        for other in
            ["a::b", "tests/a.rs", "a.rs::b", "tests/a.rs::b()", "tests/{a}.rs::b", "x/a.rs::"]
        {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_test_is_a_function_below_its_attribute() {
        let text = "#[test]\n/// Text.\n#[cfg(unix)]\nfn one() {}\nfn two() {}\n\
                    #[test]\n#[ignore = \"slow\"]\nfn three() {}\n";
        assert!(has(text, "#[test]", "one"));
        for other in ["on", "two", "three", "four"] {
            assert!(!has(text, "#[test]", other), "{other}");
        }
    }
}
