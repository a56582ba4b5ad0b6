//! Places of kernels and functions in the text of their sources.

use super::source::Source;
use crate::base::report::{Report, place};
use kernelmill_artifact::Signature;
use kernelmill_compiler::diagnostic::{Code, Diagnostic, Place};

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

/// Reports what is wrong with a kernel, at its name where the text of its file is known.
pub(crate) fn report_kernel(
    sources: &[Source],
    kernel: &Signature,
    (code, message, help): (Code, &str, &str),
    report: &mut Report,
) {
    let has_text = |source: &&Source| source.texts.iter().any(|(file, _)| **file == *kernel.file);
    let Some(source) = sources.iter().find(has_text) else {
        let message = format!("{}:{}: {message}", kernel.file, kernel.line);
        return report.plain(code, message, help);
    };
    for (file, text) in &source.texts {
        report.add_text(file, text.clone());
    }
    let diagnostic = Diagnostic::error(code, place_of(source, kernel), message);
    report.diagnostic(diagnostic.kernel(kernel.name()).help(help));
}

/// Where the parameter of a Rust function is named, behind the place of the function's name.
pub(crate) fn place_of_parameter(text: &str, function: &Place, name: &str) -> Option<Place> {
    let start = function.span.end;
    let rest = text.get(start..)?;
    let is_part = |character: char| character.is_alphanumeric() || "_#".contains(character);
    let is_named = |at: &usize| {
        let (before, behind) = (&rest[..*at], rest[at + name.len()..].trim_start());
        !before.ends_with(is_part) && behind.starts_with(':') && !behind.starts_with("::")
    };
    let at = start + rest.match_indices(name).map(|(at, _)| at).find(is_named)?;
    Some(place(&function.file, text, at..at + name.len()))
}

/// The column and the length of a function's name in a line. That of an instance starts with the function's.
fn name_in(line: &str, name: &str) -> (usize, usize) {
    if let Some(column) = line.find(&format!("fn {name}")) {
        return (column + 3, name.len());
    }
    let Some(column) = line.find("fn ") else {
        // A kernel in C++, where its line has the name.
        return line.find(name).map_or((0, name.len().min(line.len())), |at| (at, name.len()));
    };
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
        assert_eq!(name_in("__global__ void scale(float x)", "scale"), (16, 5));
    }

    #[test]
    fn a_parameter_is_a_whole_name_before_a_colon() {
        let text = "fn k<T: half::Half>(min_w: u8, w: [f32; 9], half: T) {}";
        let function = place("k.rs", text, 3..4);
        let of = |name| place_of_parameter(text, &function, name).map(|it| it.span);
        assert_eq!(of("w"), Some(31..32));
        assert_eq!(of("half"), Some(44..48));
        assert_eq!(of("x"), None);
    }
}
