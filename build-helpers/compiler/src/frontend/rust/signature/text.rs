//! From the parser's spans to places in the text.

use crate::diagnostic::Place;
use proc_macro2::{Delimiter, LineColumn, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::ops::Range;
use syn::spanned::Spanned;

/// The text of a file with the starts of its lines.
pub(super) struct Text<'a> {
    text: &'a str,
    display: &'a str,
    lines: Vec<usize>,
    /// The bytes of the definitions of macros.
    definitions: Vec<Range<usize>>,
}

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a str, display: &'a str) -> Self {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(after.map(|(index, _)| index + 1)).collect();
        Self { text, display, lines, definitions: Vec::new() }
    }

    pub(super) fn display(&self) -> &'a str {
        self.display
    }

    /// Says that these tokens define a macro, which may write nodes that are not in the text as a whole.
    pub(super) fn add_definition(&mut self, tokens: &TokenStream) {
        let range = self.bytes(tokens.span());
        self.definitions.push(range);
    }

    /// The place of a node; of its first word, where a macro has put it together from several places.
    pub(super) fn place(&self, node: &impl ToTokens) -> Place {
        match self.parts(node).as_deref() {
            Some([first, ..]) => self.place_of(first.span),
            _ => self.place_of(node.span()),
        }
    }

    /// The words and signs of a node that a macro has put together from several places.
    fn parts(&self, node: &impl ToTokens) -> Option<Vec<Part>> {
        if self.definitions.is_empty() {
            return None;
        }
        let mut parts = Vec::new();
        flatten(node.to_token_stream(), &mut parts);
        let definition = |part: &Part| {
            let start = self.bytes(part.span).start;
            self.definitions.iter().rposition(|it| it.contains(&start))
        };
        let mut of_parts = parts.iter().map(definition);
        let first = of_parts.next()?;
        of_parts.any(|it| it != first).then_some(parts)
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
    pub(super) fn written(&self, node: &impl ToTokens) -> String {
        /// Letters that are shown of a longer text at its start, and at its end.
        const SHOWN: (usize, usize) = (120, 40);
        let text = match self.parts(node) {
            Some(parts) => joined(&parts),
            None => self.text.get(self.bytes(node.span())).unwrap_or_default().to_owned(),
        };
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

/// A word or a sign.
struct Part {
    text: String,
    is_word: bool,
    span: Span,
}

/// The words and signs in tokens, brackets among them.
fn flatten(tokens: TokenStream, parts: &mut Vec<Part>) {
    for token in tokens {
        let TokenTree::Group(group) = token else {
            let is_word = !matches!(token, TokenTree::Punct(_));
            parts.push(Part { text: token.to_string(), is_word, span: token.span() });
            continue;
        };
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => ("", ""),
        };
        let bracket = |text: &str, span| Part { text: text.to_owned(), is_word: false, span };
        let opened = (!open.is_empty()).then(|| bracket(open, group.span_open()));
        parts.extend(opened);
        flatten(group.stream(), parts);
        let closed = (!close.is_empty()).then(|| bracket(close, group.span_close()));
        parts.extend(closed);
    }
}

/// Words and signs as people write types.
fn joined(parts: &[Part]) -> String {
    let mut text = String::new();
    let mut after_word = false;
    for part in parts {
        let is_list = text.ends_with([',', ';']) || (text.ends_with(':') && !text.ends_with("::"));
        let has_space = (after_word && (part.is_word || text.ends_with("mut")))
            || (is_list && part.text != ":");
        if has_space || part.text == "-" || text.ends_with("->") {
            text.push(' ');
        }
        text.push_str(&part.text);
        after_word = part.is_word;
    }
    text
}
