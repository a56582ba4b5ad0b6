//! The function item that `#[kernel]` is applied to: its name, generics and parameters.

use crate::{
    error::Errors,
    parameter::{self, Parameter},
    tokens::{angle_depth, flatten, is_group, is_ident, is_punct, skip_attributes, span, split},
};
use proc_macro::{Delimiter, Ident, TokenStream, TokenTree};

/// The parts of a kernel that its entry point needs.
pub(crate) struct Function {
    pub(crate) name: Ident,
    /// Whether it has an attribute `#[inline]` of any kind.
    pub(crate) has_inline: bool,
    /// The generics: `<'a, 'b>` or nothing.
    pub(crate) lifetimes: Vec<TokenTree>,
    /// The `where` clause with its keyword, or nothing.
    pub(crate) bounds: Vec<TokenTree>,
    pub(crate) parameters: Vec<Parameter>,
}

impl Function {
    /// The function's symbol in compiled code: its name without `r#`, in ASCII.
    pub(crate) fn symbol(&self) -> String {
        let name = self.name.to_string();
        ascii(name.strip_prefix("r#").unwrap_or(&name))
    }
}

/// The symbol of a name: every character except ASCII letters and digits becomes an underscore.
pub(crate) fn ascii(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Reads a function; `None` when `item` is no function. Errors go to `errors`.
pub(crate) fn read(item: TokenStream, errors: &mut Errors) -> Option<Function> {
    let tokens = flatten(item);
    let start = skip_attributes(&tokens);
    let Some((position, name)) = find_name(&tokens, start, errors) else {
        errors.push(
            span(&tokens[start..]),
            "`#[kernel]` stands on a function: write `#[kernel] pub fn name(..) { .. }`",
        );
        return None;
    };
    let list = position
        + tokens[position..]
            .iter()
            .position(|token| is_group(Some(token), Delimiter::Parenthesis))?;
    let lifetimes = read_generics(&tokens[position..list], errors);
    let TokenTree::Group(group) = &tokens[list] else { return None };
    let inner = flatten(group.stream());
    let before_body = tokens.get(list + 1..tokens.len() - 1).unwrap_or_default();
    for part in [&lifetimes, &inner, before_body] {
        refuse_static(part, errors);
    }
    let parameters =
        split(&inner, ',').into_iter().filter_map(|part| parameter::read(part, errors)).collect();
    let bounds = read_tail(&tokens[list + 1..], errors);
    let has_inline = tokens[..start].iter().any(|token| {
        matches!(token, TokenTree::Group(group)
            if is_ident(group.stream().into_iter().next().as_ref(), "inline"))
    });
    Some(Function { name, has_inline, lifetimes, bounds, parameters })
}

/// The position after a function's name, and the name; `None` when anything except visibility and
/// qualifiers precedes it.
pub(crate) fn find_name(
    tokens: &[TokenTree],
    start: usize,
    errors: &mut Errors,
) -> Option<(usize, Ident)> {
    let mut index = start;
    loop {
        match tokens.get(index)? {
            TokenTree::Ident(word) => match word.to_string().as_str() {
                "fn" => break,
                "async" => errors
                    .push(word.span(), "a function on a device runs to its end: remove `async`"),
                "pub" | "crate" | "const" | "unsafe" | "safe" | "extern" => {}
                _ => return None,
            },
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {}
            TokenTree::Literal(_) => {}
            _ => return None,
        }
        index += 1;
    }
    match tokens.get(index + 1)? {
        TokenTree::Ident(name) => Some((index + 2, name.clone())),
        _ => None,
    }
}

/// The generics, which may hold lifetimes only.
fn read_generics(tokens: &[TokenTree], errors: &mut Errors) -> Vec<TokenTree> {
    if tokens.len() < 2 {
        return Vec::new();
    }
    for part in split(&tokens[1..tokens.len() - 1], ',') {
        if !is_punct(part.first(), '\'') {
            errors.push(
                span(part),
                "a kernel has no type or constant parameters: write a kernel for each type, which \
                 calls a generic function",
            );
        }
    }
    tokens.to_vec()
}

/// Refuses `'static`: what a kernel is passed lives as long as the launch. The entry refuses what says the
/// same in other words.
fn refuse_static(tokens: &[TokenTree], errors: &mut Errors) {
    for (index, token) in tokens.iter().enumerate() {
        if is_ident(Some(token), "static") && is_punct(tokens[..index].last(), '\'') {
            errors.push(
                token.span(),
                "what a kernel is passed lives as long as its launch: remove `'static`",
            );
        }
        if let TokenTree::Group(group) = token {
            refuse_static(&flatten(group.stream()), errors);
        }
    }
}

/// Reads the tokens between the parameters and the body, and returns the `where` clause.
fn read_tail(tokens: &[TokenTree], errors: &mut Errors) -> Vec<TokenTree> {
    let end = tokens
        .iter()
        .rposition(|token| is_group(Some(token), Delimiter::Brace))
        .unwrap_or(tokens.len());
    let clause = outside_angles(&tokens[..end], |token| is_ident(Some(token), "where"));
    let (output, bounds) = tokens[..end].split_at(clause.unwrap_or(end));
    let unit = matches!(output.get(2), Some(TokenTree::Group(group))
        if group.delimiter() == Delimiter::Parenthesis && group.stream().is_empty());
    if output.len() > 2 && !(unit && output.len() == 3) {
        errors.push(
            span(&output[2..]),
            "a kernel returns nothing: remove the type and write the result to a `DisjointSlice`",
        );
    }
    if end == tokens.len() {
        errors.push(span(&tokens[..end]), "a kernel has a body: write `{ .. }`");
    }
    bounds.to_vec()
}

/// The position of the first token outside angle brackets that is `wanted`.
fn outside_angles(tokens: &[TokenTree], wanted: impl Fn(&TokenTree) -> bool) -> Option<usize> {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate() {
        if depth == 0 && wanted(token) {
            return Some(index);
        }
        depth = angle_depth(tokens, index, depth);
    }
    None
}
