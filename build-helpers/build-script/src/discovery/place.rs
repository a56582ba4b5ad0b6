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
    let (column, length) = name_in(line, name);
    place(file, text, start + column..start + column + length)
}

/// The column and the length of a function's name in a line. That of an instance starts with the function's.
fn name_in(line: &str, name: &str) -> (usize, usize) {
    if let Some(column) = line.find(&format!("fn {name}")) {
        return (column + 3, name.len());
    }
    let Some(column) = line.find("fn ") else { return (0, name.len().min(line.len())) };
    let rest = &line[column + 3..];
    let is_part = |character: char| character.is_alphanumeric() || "_#".contains(character);
    (column + 3, rest.find(|character| !is_part(character)).unwrap_or(rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_instance_is_that_of_its_function() {
        assert_eq!(name_in("pub fn scale(x: f32) {", "scale"), (7, 5));
        assert_eq!(name_in("  fn scale<T>(x: T) {", "scale_f32"), (5, 5));
        assert_eq!(name_in("fn größe<T>(", "größe_u8"), (3, 7));
        assert_eq!(name_in("x", "scale"), (0, 1));
    }
}
