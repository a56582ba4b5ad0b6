//! The files of a CUDA program: what it includes of the files beside it, and their text in a package, with host code put aside.

use super::{program::Program, text::line_of};
use anyhow::{Context as _, Result, ensure};
use kernelmill_build::code_of;
use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// Headers of C++, OpenMP and the CUDA samples that kernels without `std::` do not need.
const OF_HOST: [&str; 19] = [
    "algorithm",
    "chrono",
    "fstream",
    "functional",
    "helper_cuda.h",
    "helper_functions.h",
    "helper_timer.h",
    "iomanip",
    "iostream",
    "map",
    "memory",
    "numeric",
    "omp.h",
    "random",
    "sstream",
    "string",
    "thread",
    "unordered_map",
    "vector",
];

/// Headers that compilers have themselves, also where they are named in quotes.
const OF_COMPILERS: [&str; 9] = [
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "math.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "time.h",
];

/// A file of a program.
pub(super) struct Source {
    /// Its path in the package: files keep their places to each other.
    pub(super) path: String,
    pub(super) text: String,
    /// The text with blanks in place of comments, of texts in quotes and of lines of the preprocessor.
    pub(super) code: String,
    pub(super) program: Program,
    /// Its lines that include another file of the program, with the index of that.
    pub(super) includes: Vec<(usize, usize)>,
    /// What it includes that has another name in the package.
    renamed: Vec<String>,
}

/// The program, and the files in quotes that it and they include.
pub(super) fn read(file: &Path, notes: &mut Vec<String>) -> Result<Vec<Source>> {
    let first = normal(&std::path::absolute(file)?);
    let mut found = vec![(first.clone(), text_of(&first, notes)?, Vec::new(), Vec::new())];
    let mut at = 0;
    while let Some((path, text, ..)) = found.get(at) {
        let (path, text) = (path.clone(), text.clone());
        let folder = path.parent().unwrap_or(Path::new(""));
        for (line, included) in text.lines().enumerate() {
            let Some(name) = quoted(included) else { continue };
            let other = normal(&folder.join(name));
            if Path::new(name).is_relative() && other.is_file() {
                // As a file with the extension .cu it were a program of its own.
                if other.extension().is_some_and(|it| it == "cu") && other != first {
                    found[at].2.push(name.to_owned());
                }
                let known = found.iter().position(|(known, ..)| *known == other);
                let place = known.unwrap_or(found.len());
                found[at].3.push((line + 1, place));
                if known.is_none() {
                    let text = text_of(&other, notes)?;
                    found.push((other, text, Vec::new(), Vec::new()));
                }
            } else if !OF_COMPILERS.contains(&name) {
                notes.push(format!(
                    "{}, line {}: the file `{name}` is not found beside it, so it is not copied: name its folder with the setting `include`, or delete the line",
                    path.file_name().unwrap_or_default().display(),
                    line + 1
                ));
            }
        }
        at += 1;
    }
    let mut folder = first.parent().unwrap_or(Path::new(""));
    while !found.iter().all(|(path, ..)| path.starts_with(folder)) {
        folder = folder.parent().unwrap_or(Path::new(""));
    }
    let source = |(path, text, renamed, includes): (PathBuf, String, _, _)| {
        let parts = path.strip_prefix(folder).unwrap_or(&path).components();
        let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
        let is_other = path != first && path.extension().is_some_and(|it| it == "cu");
        let path = format!("kernels/{}{}", parts.join("/"), if is_other { ".h" } else { "" });
        let (code, program) = (code_of(&text, false), Program::read(&text));
        Source { path, code, program, text, includes, renamed }
    };
    Ok(found.into_iter().map(source).collect())
}

/// The text of a file; one that is not UTF-8 is taken for Latin-1, where a sign of that can stand in comments and quotes alone.
fn text_of(path: &Path, notes: &mut Vec<String>) -> Result<String> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => return Ok(text.trim_start_matches('\u{feff}').to_owned()),
        Err(error) => error.as_bytes().iter().map(|byte| char::from(*byte)).collect::<String>(),
    };
    let line = |text: &str| text.find(|c: char| !c.is_ascii()).map(|at| line_of(text, at));
    if let Some(line) = line(&code_of(&text, false)) {
        ensure!(
            false,
            "{}, line {line}: the file is not UTF-8, and the line has other signs than ASCII outside of comments and texts in quotes: save the file as UTF-8",
            path.display()
        );
    }
    notes.push(format!(
        "{} is not UTF-8: it is read as Latin-1 and written as UTF-8; the first line with another sign than ASCII is {}",
        path.file_name().unwrap_or_default().display(),
        line(&text).unwrap_or(1)
    ));
    Ok(text)
}

/// What a line includes in quotes.
fn quoted(line: &str) -> Option<&str> {
    included(line)?.strip_prefix('"')?.split('"').next()
}

/// What a line includes, with its quotes or brackets.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    Some(rest.trim())
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = normal.pop(),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

impl Source {
    #[cfg(test)]
    pub(super) fn of_text(path: &str, text: &str, includes: Vec<(usize, usize)>) -> Self {
        let (path, text) = (path.to_owned(), text.to_owned());
        let (code, program) = (code_of(&text, false), Program::read(&text));
        Self { path, code, program, text, includes, renamed: Vec::new() }
    }

    /// Its text in the package: host code is not compiled, and files that are included are found by their new names.
    pub(super) fn ported(&self, has_std: bool) -> String {
        let mut kept = String::new();
        let mut at = 0;
        for (_, range) in &self.program.host {
            kept += &self.text[at..range.start];
            let line = if kept.is_empty() || kept.ends_with('\n') { "" } else { "\n" };
            kept += &format!(
                "{line}#if 0  // host code, to be ported\n{}\n#endif",
                &self.text[range.clone()]
            );
            at = range.end;
        }
        kept += &self.text[at..];
        let is_of_host = |line: &str| {
            let name = included(line).and_then(|it| it.strip_prefix('<')?.split('>').next());
            name.is_some_and(|name| OF_HOST.contains(&name))
        };
        // Headers of C++ have these types by the way.
        let has_widths =
            ["int8_t", "int16_t", "int32_t", "int64_t"].iter().any(|ty| kept.contains(ty));
        let mut is_missing = has_widths && !kept.contains("stdint");
        let line = |line: &str| match quoted(line) {
            Some(name) if self.renamed.iter().any(|it| it == name) => {
                line.replace(&format!("\"{name}\""), &format!("\"{name}.h\"")) + "\n"
            }
            _ if !has_std && is_of_host(line) => match std::mem::take(&mut is_missing) {
                true => format!("#include <cstdint>  // {line}\n"),
                false => format!("// {line}\n"),
            },
            _ => format!("{line}\n"),
        };
        kept.lines().map(line).collect()
    }
}
