//! Places of kernels and functions in the text of their sources.

use super::source::Source;
use crate::base::report::{Report, place};
use kernelmill_artifact::Signature;
use kernelmill_compiler::diagnostic::{Code, Diagnostic, Place};
use kernelmill_compiler::frontend::cuda::clang::UnsupportedFeature;
use std::sync::Arc;

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
    found: (Code, &str, &str),
    report: &mut Report,
) {
    report_parameter(sources, (kernel, None), found, report);
}

/// Reports what is wrong with a parameter of a kernel in C++ or OpenCL C, at its name where the text of its file has it.
pub(crate) fn report_parameter(
    sources: &[Source],
    (kernel, parameter): (&Signature, Option<&str>),
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
    let name = place_of(source, kernel);
    let text = source.texts.iter().find(|(file, _)| **file == *kernel.file);
    let place = parameter
        .zip(text)
        .and_then(|(parameter, (_, text))| place_of_cpp_parameter(text, &name, parameter));
    let mut diagnostic = Diagnostic::error(code, place.unwrap_or(name), message);
    diagnostic.parameter = parameter.map(str::to_owned);
    report.diagnostic(diagnostic.kernel(kernel.name()).help(help));
}

/// Reports what a kernel uses and targets do not have, at its line, with the calls that lead there.
pub(crate) fn report_feature(
    sources: &[Source],
    (feature, kernel): (&UnsupportedFeature, &Signature),
    (message, help): (&str, &str),
    report: &mut Report,
) {
    let mut at = |file: &str, line: u32| {
        let mut texts = sources.iter().flat_map(|source| &source.texts);
        match texts.find(|(display, _)| display == file) {
            Some((_, text)) => {
                report.add_text(file, text.clone());
                place_of_line(file, text, line)
            }
            None => Place { file: file.to_owned(), line, column: 1, span: 0..0 },
        }
    };
    let mut diagnostic =
        Diagnostic::error(Code::CppFeature, at(&feature.file, feature.line), message)
            .kernel(kernel.name())
            .help(help);
    // The first one is the place itself, and is said where it is not in the kernel.
    let frames = feature.frames.iter().enumerate();
    for (index, frame) in frames.filter(|_| feature.frames.len() > 1) {
        let word = if index == 0 { "in" } else { "called in" };
        let text = format!("{word} `{}`", frame.function);
        // LLVM's IR without debug information has lines of what is unsupported alone.
        let is_known = index > 0 && !frame.file.is_empty();
        let (file, line) =
            if is_known { (&frame.file, frame.line) } else { (&feature.file, feature.line) };
        diagnostic = diagnostic.label(at(file, line), text);
    }
    report.diagnostic(diagnostic);
}

/// What stands in a line.
pub(crate) fn place_of_line(file: &str, text: &str, line: u32) -> Place {
    let before = text.split_inclusive('\n').take((line as usize).saturating_sub(1));
    let start: usize = before.map(str::len).sum();
    let line = text[start..].lines().next().unwrap_or_default();
    let indent = line.len() - line.trim_start().len();
    place(file, text, start + indent..start + indent.max(line.trim_end().len()))
}

/// Reports what is wrong with a type of a signature, at its declaration where a source has its text; the place is that of a
/// kernel with it. Another type of that name is shown too, by the place of a kernel with that one.
pub(crate) fn report_type(
    sources: &[Source],
    (name, kernel, other): (&str, &str, Option<&str>),
    (code, message, help): (Code, &str, &str),
    report: &mut Report,
) {
    let found = declared(sources, name, kernel);
    let other = other.and_then(|other| declared(sources, name, other));
    // Two modules of a file can each have one, and nothing says which is whose.
    let is_ambiguous = found.is_some() && found == other;
    let Some((place, text)) = found.filter(|_| !is_ambiguous) else {
        return report.plain(code, format!("{kernel}: {message}"), help);
    };
    report.add_text(&place.file, text);
    let mut diagnostic = Diagnostic::error(code, place, message).help(help);
    if let Some((place, text)) = other {
        report.add_text(&place.file, text);
        diagnostic = diagnostic.label(place, "the other one");
    }
    report.diagnostic(diagnostic);
}

/// Where a source declares a type of a kernel with this place, and the text of the file.
fn declared(sources: &[Source], name: &str, kernel: &str) -> Option<(Place, Arc<str>)> {
    let texts = || sources.iter().flat_map(|source| &source.texts);
    // The file of the kernel comes first: another one may have a struct of that name that no kernel has.
    let is_own = |file: &str| kernel.strip_prefix(file).is_some_and(|rest| rest.starts_with(':'));
    let own = texts().filter(|(file, _)| is_own(file)).chain(texts());
    let mut found = own.filter_map(|(file, text)| Some((file, text, declaration(text, name)?)));
    let (file, text, span) = found.next()?;
    Some((place(file, text, span), text.clone()))
}

/// What stands before the name of a type where it is declared, in Rust and C++.
const DECLARES: [&str; 5] = ["struct", "enum", "enum class", "enum struct", "class"];

/// Where a text declares a type, in Rust or C++, and not in a comment.
fn declaration(text: &str, name: &str) -> Option<std::ops::Range<usize>> {
    DECLARES.iter().find_map(|word| declaration_by(word, text, name))
}

fn declaration_by(word: &str, text: &str, name: &str) -> Option<std::ops::Range<usize>> {
    let declared = format!("{word} {name}");
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let is_whole = |at: &usize| {
        let (before, behind) = (&text[..*at], &text[at + declared.len()..]);
        let line = before.rsplit('\n').next().unwrap_or_default();
        !before.ends_with(is_part) && !behind.starts_with(is_part) && !line.contains("//")
    };
    let at = text.match_indices(&declared).map(|(at, _)| at).find(is_whole)?;
    let end = at + declared.len();
    Some(end - name.len()..end)
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

/// Where the parameter of a function in C++ is named, between the place of the function's name and its body: the last word
/// there that is followed by what ends a declaration, so that no type of the same name is taken for it.
fn place_of_cpp_parameter(text: &str, function: &Place, name: &str) -> Option<Place> {
    let start = function.span.end;
    let rest = text.get(start..)?;
    let rest = &rest[..rest.find(['{', ';'])?];
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let is_named = |at: &usize| {
        let (before, behind) = (&rest[..*at], rest[at + name.len()..].trim_start());
        !before.ends_with(is_part) && behind.starts_with([',', ')', '[', '='])
    };
    let at = start + rest.match_indices(name).map(|(at, _)| at).filter(is_named).last()?;
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
    fn a_parameter_of_a_function_in_cpp_is_found_by_its_whole_name() {
        let text = "__global__ void k(Box box, const float *x,\n    Two<v, w> v) { f(v, w); }";
        let function = place("a.cu", text, 16..17);
        let found = |name| {
            let place = place_of_cpp_parameter(text, &function, name)?;
            Some((place.line, place.column))
        };
        assert_eq!(found("box"), Some((1, 23)));
        assert_eq!(found("x"), Some((1, 41)));
        assert_eq!(found("v"), Some((2, 15)));
        assert_eq!(found("y"), None);
    }

    #[test]
    fn a_struct_is_found_by_its_whole_name() {
        let text = "// struct P\nstruct Pq;\nmystruct P;\npub struct P { x: f32 }";
        let at = text.rfind("P {").unwrap();
        assert_eq!(declaration(text, "P"), Some(at..at + 1));
        assert_eq!(declaration(text, "Q"), None);
        for text in ["enum class Side { Left };", "#[repr(u8)] pub enum Side { Left }"] {
            let at = text.find("Side").unwrap();
            assert_eq!(declaration(text, "Side"), Some(at..at + 4));
        }
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
