//! From the parser's spans to places in the text.

use crate::diagnostic::Place;
use proc_macro2::{LineColumn, Span};
use std::ops::Range;
use syn::spanned::Spanned;

/// The text of a file with the starts of its lines.
pub(super) struct Text<'a> {
    text: &'a str,
    display: &'a str,
    lines: Vec<usize>,
}

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a str, display: &'a str) -> Self {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(after.map(|(index, _)| index + 1)).collect();
        Self { text, display, lines }
    }

    pub(super) fn display(&self) -> &'a str {
        self.display
    }

    pub(super) fn place(&self, node: &impl Spanned) -> Place {
        self.place_of(node.span())
    }

    pub(super) fn place_of(&self, span: Span) -> Place {
        let start = span.start();
        Place {
            file: self.display.to_owned(),
            line: u32::try_from(start.line).unwrap_or(u32::MAX),
            column: u32::try_from(start.column + 1).unwrap_or(u32::MAX),
            span: self.bytes(span),
        }
    }

    /// The source text of a node for a message: its white space is made single spaces, and of a long text only the
    /// start and the end are there.
    pub(super) fn written(&self, node: &impl Spanned) -> String {
        /// Letters that are shown of a longer text at its start, and at its end.
        const SHOWN: (usize, usize) = (120, 40);
        let text = self.text.get(self.bytes(node.span())).unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let letters = text.chars().count();
        if letters <= 2 * (SHOWN.0 + SHOWN.1) {
            return text;
        }
        let start: String = text.chars().take(SHOWN.0).collect();
        let end: String = text.chars().skip(letters - SHOWN.1).collect();
        format!("{start} .. {end}")
    }

    fn bytes(&self, span: Span) -> Range<usize> {
        let start = self.offset(span.start());
        start..self.offset(span.end()).max(start)
    }

    /// The byte of a position. Lines and columns are used rather than the span's own bytes,
    /// which do not count a byte order mark or a `#!` line.
    fn offset(&self, at: LineColumn) -> usize {
        let line = at.line.checked_sub(1).and_then(|line| self.lines.get(line));
        let Some(&line) = line else { return self.text.len() };
        let rest = &self.text[line..];
        line + rest.char_indices().nth(at.column).map_or(rest.len(), |(index, _)| index)
    }
}
