//! Indices of 32 bits in what nvcc compiles: a macro says their width, and the source chooses the type of its indices by it.
//!
//! kernelmill's own compiler narrows indices itself, and its headers define the macro as 64.

use crate::discovery::source::Source;

/// The macro.
pub(super) const INDEX_WIDTH: &str = "KERNELMILL_INDEX_WIDTH";

/// A source with indices of 32 bits.
pub(super) fn narrowed(source: &Source) -> Source {
    let mut source = source.clone();
    source.defines.insert(INDEX_WIDTH.to_owned(), "32".to_owned());
    source
}

/// Adds the macro to those of a source that does not have it.
pub(super) fn define(defines: &mut Vec<(String, String)>) {
    if defines.iter().all(|(name, _)| name != INDEX_WIDTH) {
        defines.push((INDEX_WIDTH.to_owned(), "64".to_owned()));
    }
}

/// Whether a text in C++ has the macro outside of comments.
pub(super) fn is_used_in(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(INDEX_WIDTH) {
        let comment = ["//", "/*"].into_iter().filter_map(|it| Some((rest.find(it)?, it))).min();
        let Some((start, sign)) = comment.filter(|(start, _)| *start < at) else { return true };
        let end = if sign == "//" { "\n" } else { "*/" };
        let body = &rest[start + sign.len()..];
        rest = body.split_once(end).map_or("", |(_, behind)| behind);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_macro_in_a_comment_is_not_used() {
        for text in [
            "#if KERNELMILL_INDEX_WIDTH == 32",
            "// a /* comment\n#if KERNELMILL_INDEX_WIDTH == 32",
            "/* // */ KERNELMILL_INDEX_WIDTH",
        ] {
            assert!(is_used_in(text), "{text}");
        }
        for text in [
            "int x;",
            "int x; // KERNELMILL_INDEX_WIDTH\nint y;",
            "/* KERNELMILL_INDEX_WIDTH\nKERNELMILL_INDEX_WIDTH */",
            "/* KERNELMILL_INDEX_WIDTH",
        ] {
            assert!(!is_used_in(text), "{text}");
        }
    }
}
