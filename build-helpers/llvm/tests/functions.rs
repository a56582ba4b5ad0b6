//! The two lists of functions are complete: trampolines for all that llvm-sys declares, and a
//! check at load for all that this crate's own sources call.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

/// The names that `text` has after `before`.
fn names_after(text: &str, before: &str) -> BTreeSet<String> {
    let starts = text.match_indices(before).map(|(at, _)| at + before.len());
    starts
        .map(|at| {
            let rest = &text[at..];
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            rest[..end.unwrap_or(rest.len())].to_owned()
        })
        .collect()
}

fn sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

fn own(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file)).unwrap()
}

#[test]
fn every_function_of_llvm_sys_has_a_trampoline() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata = String::from_utf8(output.stdout).unwrap();
    let manifest = metadata
        .split('"')
        .find(|part| part.contains("llvm-sys-221") && part.ends_with("Cargo.toml"))
        .expect("llvm-sys is a dependency");
    let mut text = String::new();
    sources(&Path::new(manifest).with_file_name("src"), &mut text);
    let declared: BTreeSet<_> = names_after(&text, "pub fn ")
        .into_iter()
        // Those of the C file that llvm-sys compiles only with a feature that is off here, and
        // those of libLTO, which is another library.
        .filter(|name| name.starts_with("LLVM") && !name.starts_with("LLVM_Initialize"))
        .collect();
    assert!(declared.len() > 1000, "{}", declared.len());
    let listed: BTreeSet<_> = own("functions.rs").split_whitespace().map(str::to_owned).collect();
    let absent: Vec<_> = declared.difference(&listed).collect();
    assert!(absent.is_empty(), "no trampoline for {absent:?}");
}

#[test]
fn every_function_that_is_called_here_is_checked_at_load() {
    let mut text = String::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut text);
    let declared = own("functions.rs");
    let required = own("required.in") + &own("library.rs");
    let unchecked: Vec<_> = declared
        .split_whitespace()
        .filter(|name| name.starts_with("LLVM"))
        .filter(|name| text.contains(&format!("{name}(")))
        .filter(|name| !required.contains(&format!("\"{name}\"")))
        .collect();
    assert!(unchecked.is_empty(), "not checked at load: {unchecked:?}");
}
