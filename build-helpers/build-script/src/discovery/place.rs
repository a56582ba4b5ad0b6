//! Places of kernels and functions in the text of their sources.

use super::source::Source;
use crate::base::report::place;
use kernelmill_artifact::Signature;
use kernelmill_compiler::diagnostic::Place;

/// Where a kernel's name stands.
pub(crate) fn place_of(source: &Source, signature: &Signature) -> Place {
    place_at(source, &signature.file, signature.line, &signature.name)
}

/// Where a function's name stands, in a line of a file.
pub(crate) fn place_at(source: &Source, file: &str, line: u32, name: &str) -> Place {
    let text = source.texts.iter().find(|(display, _)| display == file);
    let text = text.map_or("", |(_, text)| text);
    let lines = text.split_inclusive('\n').take((line as usize).saturating_sub(1));
    let start: usize = lines.map(str::len).sum();
    let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let column = line.find(&format!("fn {name}")).map_or(0, |column| column + 3);
    place(file, text, start + column..start + column + name.len())
}
