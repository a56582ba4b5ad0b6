//! Kernel packages as sources: the texts of their libraries.

use super::candidate::{Candidate, read_bytes};
use crate::base::report::Report;
use kernelmill_compiler::diagnostic::Code;
use std::{ffi::OsStr, path::Path, sync::Arc};
use walkdir::{DirEntry, WalkDir};

/// A file of a crate: the module it holds, its name in messages, its text.
pub(super) type ModuleText = (Vec<String>, (String, Arc<str>));

/// The texts of a package's library, its root first; `None` where the report says why not.
pub(super) fn texts(candidate: &Candidate, report: &mut Report) -> Option<Vec<ModuleText>> {
    let sources = candidate.path.join("src");
    if !sources.join("lib.rs").is_file() {
        report.plain(
            Code::NoKernelSource,
            format!("the kernel package `{}` has no src/lib.rs", candidate.display),
            "put its kernels there, or leave the folder out with `exclude`",
        );
        return None;
    }
    let mut texts = Vec::new();
    let walk = WalkDir::new(&sources).sort_by_file_name().into_iter().filter_map(Result::ok);
    let is_source = |entry: &DirEntry| {
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        !is_hidden && entry.path().extension() == Some(OsStr::new("rs"))
    };
    for entry in walk.filter(is_source) {
        let Ok(relative) = entry.path().strip_prefix(&sources) else { continue };
        let Some(module) = module_path(relative) else { continue };
        let display = format!(
            "{}/{}",
            candidate.display,
            crate::base::paths::relative(&candidate.path, entry.path())
        );
        let bytes = read_bytes(entry.path(), &display, report)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        texts.push((module, (display, text.into())));
    }
    texts.sort_by_key(|(module, _)| module.len());
    Some(texts)
}

/// The module that a file under `src` holds by custom; `None` for programs.
fn module_path(relative: &Path) -> Option<Vec<String>> {
    let mut parts: Vec<_> = relative
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    match parts.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["lib"] => return Some(Vec::new()),
        ["main"] | ["bin", ..] => return None,
        [.., "mod"] => {
            parts.pop();
        }
        _ => {}
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hold_modules_by_custom() {
        let module = |path: &str| module_path(Path::new(path)).map(|parts| parts.join("::"));
        assert_eq!(module("lib.rs").as_deref(), Some(""));
        assert_eq!(module("a.rs").as_deref(), Some("a"));
        assert_eq!(module("a/mod.rs").as_deref(), Some("a"));
        assert_eq!(module("a/b.rs").as_deref(), Some("a::b"));
        assert_eq!(module("bin/tool.rs"), None);
    }
}
