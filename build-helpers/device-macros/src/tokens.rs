//! Helpers for token trees.

use proc_macro::{Delimiter, Span, TokenStream, TokenTree};

/// The token trees of `stream`, with the invisible groups that macros produce opened.
pub(crate) fn flatten(stream: TokenStream) -> Vec<TokenTree> {
    let mut flat = Vec::new();
    for token in stream {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                flat.extend(flatten(group.stream()));
            }
            token => flat.push(token),
        }
    }
    flat
}

/// Whether `token` is this punctuation character.
pub(crate) fn is_punct(token: Option<&TokenTree>, character: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == character)
}

/// Whether `token` is this identifier or keyword.
pub(crate) fn is_ident(token: Option<&TokenTree>, name: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident.to_string() == name)
}

/// Whether `token` is a group in these delimiters.
pub(crate) fn is_group(token: Option<&TokenTree>, delimiter: Delimiter) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == delimiter)
}

/// Whether the token at `index` is half of a `::`.
pub(crate) fn is_path_separator(tokens: &[TokenTree], index: usize) -> bool {
    let joint = |at: usize| {
        matches!(tokens.get(at), Some(TokenTree::Punct(punct))
            if punct.as_char() == ':' && punct.spacing() == proc_macro::Spacing::Joint)
            && is_punct(tokens.get(at + 1), ':')
    };
    joint(index) || (index > 0 && is_punct(tokens.get(index), ':') && joint(index - 1))
}

/// The parts of `tokens` between the separators that stand outside angle brackets, without a
/// trailing empty part.
pub(crate) fn split(tokens: &[TokenTree], separator: char) -> Vec<&[TokenTree]> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (index, token) in tokens.iter().enumerate() {
        if depth == 0 && is_punct(Some(token), separator) {
            parts.push(&tokens[start..index]);
            start = index + 1;
        } else {
            depth = angle_depth(tokens, index, depth);
        }
    }
    if start < tokens.len() {
        parts.push(&tokens[start..]);
    }
    parts
}

/// The depth of angle brackets after the token at `index`; the `>` of `->` and `=>` is none.
pub(crate) fn angle_depth(tokens: &[TokenTree], index: usize, depth: usize) -> usize {
    if is_punct(tokens.get(index), '<') {
        return depth + 1;
    }
    let before = index.checked_sub(1).and_then(|before| tokens.get(before));
    let arrow = matches!(before, Some(TokenTree::Punct(punct))
        if matches!(punct.as_char(), '-' | '=') && punct.spacing() == proc_macro::Spacing::Joint);
    if is_punct(tokens.get(index), '>') && !arrow { depth.saturating_sub(1) } else { depth }
}

/// The place of the whole of `tokens`, or of the first where the compiler cannot join them.
pub(crate) fn span(tokens: &[TokenTree]) -> Span {
    tokens.first().map_or_else(Span::call_site, TokenTree::span)
}

/// `tokens` as text, for messages, spaced as people write types.
pub(crate) fn text(tokens: &[TokenTree]) -> String {
    let mut text = tokens.iter().cloned().collect::<TokenStream>().to_string();
    for (wide, narrow) in [(" < ", "<"), (" >", ">"), (" :: ", "::"), ("& ", "&"), (" ,", ",")] {
        text = text.replace(wide, narrow);
    }
    text
}

/// The number of tokens of the leading `#[..]`.
pub(crate) fn skip_attributes(tokens: &[TokenTree]) -> usize {
    let mut start = 0;
    while is_punct(tokens.get(start), '#') && is_group(tokens.get(start + 1), Delimiter::Bracket) {
        start += 2;
    }
    start
}

/// The position of the colon between a pattern and its type.
pub(crate) fn find_colon(tokens: &[TokenTree]) -> Option<usize> {
    (0..tokens.len())
        .find(|&index| is_punct(tokens.get(index), ':') && !is_path_separator(tokens, index))
}
