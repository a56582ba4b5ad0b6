//! The files of a CUDA program in a package: its host code put aside, the headers beside it.

use super::program::Program;
use std::{fs, path::Path};

/// Headers of C++ that kernels without `std::` do not need.
const OF_HOST: [&str; 15] = [
    "algorithm",
    "chrono",
    "fstream",
    "functional",
    "iomanip",
    "iostream",
    "map",
    "memory",
    "numeric",
    "random",
    "sstream",
    "string",
    "thread",
    "unordered_map",
    "vector",
];

/// The text of a program whose host code is not compiled.
pub(super) fn without_host(text: &str, program: &Program) -> String {
    let mut kept = String::new();
    let mut at = 0;
    for (_, range) in &program.host {
        kept += &text[at..range.start];
        let line = if kept.is_empty() || kept.ends_with('\n') { "" } else { "\n" };
        kept +=
            &format!("{line}#if 0  // host code, to be ported\n{}\n#endif", &text[range.clone()]);
        at = range.end;
    }
    kept += &text[at..];
    if program.kernels.iter().any(|kernel| kernel.body.contains("std::")) {
        return kept;
    }
    let is_of_host = |line: &str| {
        let name = included(line).and_then(|it| it.strip_prefix('<')?.strip_suffix('>'));
        name.is_some_and(|name| OF_HOST.contains(&name))
    };
    let line = |line: &str| match is_of_host(line) {
        true => format!("// {line}\n"),
        false => format!("{line}\n"),
    };
    kept.lines().map(line).collect()
}

/// What a line includes, with its quotes or brackets.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    Some(rest.trim())
}

/// Takes along the headers in quotes that are beside a file or below its folder.
pub(super) fn headers(
    folder: &Path,
    text: &str,
    files: &mut Vec<(String, String)>,
    notes: &mut Vec<String>,
) {
    for name in text.lines().filter_map(included) {
        let Some(name) = name.strip_prefix('"').and_then(|it| it.split('"').next()) else {
            continue;
        };
        let path = format!("kernels/{name}");
        if files.iter().any(|(known, _)| *known == path) {
            continue;
        }
        let is_below = !name.split(['/', '\\']).any(|part| part == "..") && !name.starts_with('/');
        match fs::read_to_string(folder.join(name)) {
            Ok(header) if is_below => {
                files.push((path, header.clone()));
                headers(folder, &header, files, notes);
            }
            _ => notes.push(format!(
                "the header `{name}` is not copied: it is not in the file's folder; name its folder with the setting `include`"
            )),
        }
    }
}
