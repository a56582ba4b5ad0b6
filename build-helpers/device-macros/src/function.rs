//! The function item that `#[kernel]` is applied to: its name, generics and parameters.

use crate::{
    error::Errors,
    parameter::{self, Parameter},
    template::expand,
    tokens::{angle_depth, flatten, is_group, is_ident, is_punct, skip_attributes, span, split},
};
use proc_macro::{Delimiter, Ident, TokenStream, TokenTree};

/// The parts of a kernel that its entry point needs.
pub(crate) struct Function {
    pub(crate) name: Ident,
    /// Whether it has an attribute `#[inline]` of any kind.
    pub(crate) has_inline: bool,
    /// The lifetimes of the generics: `<'a, 'b>` or nothing.
    pub(crate) lifetimes: Vec<TokenTree>,
    /// The other parameters of the generics.
    pub(crate) generics: Vec<Generic>,
    /// The `where` clause with its keyword, or nothing.
    pub(crate) bounds: Vec<TokenTree>,
    pub(crate) parameters: Vec<Parameter>,
}

/// A type parameter or a constant parameter.
pub(crate) struct Generic {
    pub(crate) name: Ident,
    /// The type of a constant.
    pub(crate) constant: Option<TokenStream>,
}

impl Function {
    /// The function's symbol in compiled code: its name without `r#`, in ASCII.
    pub(crate) fn symbol(&self) -> String {
        ascii(&self.plain_name())
    }

    /// The function's name without `r#`.
    pub(crate) fn plain_name(&self) -> String {
        let name = self.name.to_string();
        name.strip_prefix("r#").unwrap_or(&name).to_owned()
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
            "`#[kernel]` must be on a function: write `#[kernel] pub fn name(..) { .. }`",
        );
        return None;
    };
    let is_list = |token: &TokenTree| is_group(Some(token), Delimiter::Parenthesis);
    let list = position + outside_angles(&tokens[position..], is_list)?;
    let (lifetimes, generics) = read_generics(&tokens[position..list]);
    let TokenTree::Group(group) = &tokens[list] else { return None };
    let inner = flatten(group.stream());
    let before_body = tokens.get(list + 1..tokens.len() - 1).unwrap_or_default();
    for part in [&tokens[position..list], &inner, before_body] {
        refuse_static(part, errors);
    }
    let parameters =
        split(&inner, ',').into_iter().filter_map(|part| parameter::read(part, errors)).collect();
    let bounds = read_tail(&tokens[list + 1..], errors);
    let has_inline = tokens[..start].iter().any(|token| {
        matches!(token, TokenTree::Group(group)
            if is_ident(group.stream().into_iter().next().as_ref(), "inline"))
    });
    Some(Function { name, has_inline, lifetimes, generics, bounds, parameters })
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
                "async" => errors.push(
                    word.span(),
                    "a kernel or device function cannot be `async`: remove `async`",
                ),
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

/// The lifetimes of the generics, and their other parameters.
fn read_generics(tokens: &[TokenTree]) -> (Vec<TokenTree>, Vec<Generic>) {
    let [open, inner @ .., close] = tokens else { return (Vec::new(), Vec::new()) };
    let (mut lifetimes, mut generics) = (Vec::new(), Vec::new());
    for part in split(inner, ',') {
        let part = &part[skip_attributes(part)..];
        if is_punct(part.first(), '\'') {
            lifetimes.extend(part.iter().cloned());
            lifetimes.extend(expand(",", &[]));
            continue;
        }
        let is_constant = is_ident(part.first(), "const");
        let Some(TokenTree::Ident(name)) = part.get(usize::from(is_constant)) else { continue };
        let constant = is_constant.then(|| part.iter().skip(3).cloned().collect());
        generics.push(Generic { name: name.clone(), constant });
    }
    if !lifetimes.is_empty() {
        lifetimes.insert(0, open.clone());
        lifetimes.push(close.clone());
    }
    (lifetimes, generics)
}

/// Refuses `'static`: what a kernel is passed lives as long as the launch. The entry refuses what says the
/// same in other words.
fn refuse_static(tokens: &[TokenTree], errors: &mut Errors) {
    for (index, token) in tokens.iter().enumerate() {
        if is_ident(Some(token), "static") && is_punct(tokens[..index].last(), '\'') {
            errors.push(
                token.span(),
                "the arguments of a kernel live only as long as its launch: remove `'static`",
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
        errors.push(span(&tokens[..end]), "a kernel must have a body: write `{ .. }`");
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
