//! Parameters of a kernel, classified by their written types.

use crate::{
    error::Errors,
    tokens::{
        find_colon, is_group, is_ident, is_path_separator, is_punct, skip_attributes, span, split,
        text,
    },
};
use proc_macro::{Delimiter, TokenStream, TokenTree};

/// A parameter.
pub(crate) struct Parameter {
    /// The name, when its pattern is an identifier.
    pub(crate) name: Option<String>,
    pub(crate) kind: Kind,
}

/// How a parameter crosses from host to device.
pub(crate) enum Kind {
    /// A primitive type, passed as it is.
    Scalar(TokenStream),
    /// Any other type, passed by address.
    Value(TokenStream),
    /// `&[T]`, with its `T`.
    Slice(TokenStream),
    /// `&TensorMap<T, D>` and `&TensorMapMut<T, D>`, with the type behind the reference.
    TensorMap(TokenStream),
    /// `DisjointSlice<T>`, with its `T`. Whether it has rows is known by its type alone.
    Disjoint(TokenStream),
    /// `BlockArray<T, N>`, with its `T` and `N`: memory of the block, which the host does not pass.
    BlockArray { element: TokenStream, length: TokenStream },
}

impl Kind {
    /// How a parameter crosses in an instance where that is not as it is written: by value, where its type is one of
    /// the kernel's parameters and stands for a primitive type.
    pub(crate) fn with(&self, arguments: &[(String, Vec<TokenTree>)]) -> Option<Self> {
        let Self::Value(ty) = self else { return None };
        let written: Vec<TokenTree> = ty.clone().into_iter().collect();
        let [TokenTree::Ident(name)] = &written[..] else { return None };
        let (_, argument) = arguments.iter().find(|(known, _)| *known == name.to_string())?;
        let [TokenTree::Ident(argument)] = &argument[..] else { return None };
        SCALARS.contains(&argument.to_string().as_str()).then(|| Self::Scalar(ty.clone()))
    }
}

const SCALARS: [&str; 16] = [
    "bool", "char", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128",
    "usize", "f32", "f64",
];

/// The types of tensor maps, which are passed by reference.
const TENSOR_MAPS: [&str; 2] = ["TensorMap", "TensorMapMut"];

/// Reads a parameter; `None` when it is not one. Errors go to `errors`.
pub(crate) fn read(tokens: &[TokenTree], errors: &mut Errors) -> Option<Parameter> {
    let tokens = without_attributes(tokens, errors);
    let colon = find_colon(tokens);
    let pattern = &tokens[..colon.unwrap_or(tokens.len())];
    if let Some(this) = pattern.iter().find(|token| is_ident(Some(token), "self")) {
        errors.push(this.span(), "a kernel cannot be a method: write a free function");
        return None;
    }
    let Some(colon) = colon else {
        if is_punct(tokens.first(), '.') {
            errors.push(span(tokens), "a kernel's parameters are fixed: remove `...`");
        }
        return None;
    };
    let name = match pattern {
        [.., TokenTree::Ident(name)] if pattern.len() <= 2 => Some(name.to_string()),
        _ => None,
    };
    classify(&tokens[colon + 1..], errors).map(|kind| Parameter { name, kind })
}

fn classify(ty: &[TokenTree], errors: &mut Errors) -> Option<Kind> {
    let whole: TokenStream = ty.iter().cloned().collect();
    if let [TokenTree::Ident(name)] = ty
        && SCALARS.contains(&name.to_string().as_str())
    {
        return Some(Kind::Scalar(whole));
    }
    if is_punct(ty.first(), '&') {
        return reference(ty, errors);
    }
    if is_ident(ty.first(), "impl") || is_ident(ty.first(), "dyn") {
        errors.push(
            span(ty),
            format!(
                "a parameter of a kernel must have one known type: write it instead of `{}`",
                text(ty)
            ),
        );
        return None;
    }
    if let Some(arguments) = disjoint_arguments(ty) {
        return disjoint(ty, arguments, errors);
    }
    if let Some(arguments) = arguments_of(ty, "BlockArray") {
        return block_array(ty, arguments, errors);
    }
    if is_tensor_map(ty) {
        errors
            .push(span(ty), format!("a tensor map is passed by reference: write `&{}`", text(ty)));
        return None;
    }
    if is_group(ty.first(), Delimiter::Bracket) && slice_element(&ty[0]).is_some() {
        errors.push(span(ty), format!("a slice is passed by reference: write `&{}`", text(ty)));
        return None;
    }
    Some(Kind::Value(whole))
}

/// Classifies a reference: a slice, a tensor map, or an error.
fn reference(ty: &[TokenTree], errors: &mut Errors) -> Option<Kind> {
    let mut rest = &ty[1..];
    if is_punct(rest.first(), '\'') {
        rest = rest.get(2..).unwrap_or_default();
    }
    let mutable = is_ident(rest.first(), "mut");
    if mutable {
        rest = &rest[1..];
    }
    let element = match rest {
        [group] => slice_element(group),
        _ => None,
    };
    if !mutable && is_tensor_map(rest) {
        return Some(Kind::TensorMap(rest.iter().cloned().collect()));
    }
    let instead = match element {
        Some(element) if !mutable => return Some(Kind::Slice(element)),
        Some(element) => format!(
            "every thread would have the whole of `{}`: write `mut name: DisjointSlice<{element}>`",
            text(ty)
        ),
        None if mutable && disjoint_arguments(rest).is_some() => {
            format!("a `DisjointSlice` is passed by value: write `mut name: {}`", text(rest))
        }
        None if mutable && is_tensor_map(rest) => {
            format!("a tensor map is passed by a shared reference: write `&{}`", text(rest))
        }
        None if mutable => format!(
            "every thread would have the whole of `{}`: write `mut name: DisjointSlice<{}>`",
            text(ty),
            text(rest)
        ),
        None if is_ident(rest.first(), "str") => {
            "a kernel cannot take a `str`: write `&[u8]` and pass the bytes".to_owned()
        }
        None => format!(
            "a kernel cannot take a reference to a single value: write `{}` or a slice `&[T]`",
            text(rest)
        ),
    };
    errors.push(span(ty), instead);
    None
}

/// The `T` of `[T]`; `None` for arrays `[T; N]` and for anything else.
fn slice_element(token: &TokenTree) -> Option<TokenStream> {
    let TokenTree::Group(group) = token else { return None };
    let array = group.stream().into_iter().any(|token| is_punct(Some(&token), ';'));
    let slice = group.delimiter() == Delimiter::Bracket && !array && !group.stream().is_empty();
    slice.then(|| group.stream())
}

/// The generic arguments of `path::to::DisjointSlice<..>`, empty when there are none; `None` for
/// every other type.
fn disjoint_arguments(ty: &[TokenTree]) -> Option<&[TokenTree]> {
    arguments_of(ty, "DisjointSlice")
}

fn is_tensor_map(ty: &[TokenTree]) -> bool {
    TENSOR_MAPS.iter().any(|name| arguments_of(ty, name).is_some())
}

/// The generic arguments of a path to a type of this name, empty when there are none.
fn arguments_of<'t>(ty: &'t [TokenTree], wanted: &str) -> Option<&'t [TokenTree]> {
    let mut index = 0;
    let mut last = None;
    while let Some(token) = ty.get(index) {
        match token {
            TokenTree::Ident(name) => last = Some(name.to_string()),
            _ if is_path_separator(ty, index) => {}
            _ if is_punct(Some(token), '<') && index > 0 => break,
            _ => return None,
        }
        index += 1;
    }
    if last.as_deref() != Some(wanted) {
        return None;
    }
    match &ty[index..] {
        [] => Some(&[]),
        [_, inner @ .., end] if is_punct(Some(end), '>') => Some(inner),
        _ => None,
    }
}

fn disjoint(ty: &[TokenTree], arguments: &[TokenTree], errors: &mut Errors) -> Option<Kind> {
    let parts = split(arguments, ',');
    let mut types = parts.into_iter().filter(|part| !is_punct(part.first(), '\''));
    let Some(element) = types.next() else {
        errors.push(
            span(ty),
            "a `DisjointSlice` needs the type of its elements: write `DisjointSlice<f32>`",
        );
        return None;
    };
    Some(Kind::Disjoint(element.iter().cloned().collect()))
}

fn block_array(ty: &[TokenTree], arguments: &[TokenTree], errors: &mut Errors) -> Option<Kind> {
    let parts = split(arguments, ',');
    let types: Vec<_> = parts.into_iter().filter(|part| !is_punct(part.first(), '\'')).collect();
    let [element, length] = types[..] else {
        errors.push(
            span(ty),
            "a `BlockArray` needs the type of its elements and a length: write `BlockArray<f32, 256>`",
        );
        return None;
    };
    let [element, length] = [element, length].map(|part| part.iter().cloned().collect());
    Some(Kind::BlockArray { element, length })
}

/// The tokens of a parameter after its attributes; an attribute that removes the parameter is an
/// error.
fn without_attributes<'a>(tokens: &'a [TokenTree], errors: &mut Errors) -> &'a [TokenTree] {
    let end = skip_attributes(tokens);
    for attribute in tokens[..end].iter().skip(1).step_by(2) {
        let TokenTree::Group(group) = attribute else { continue };
        let first = group.stream().into_iter().next();
        if is_ident(first.as_ref(), "cfg") || is_ident(first.as_ref(), "cfg_attr") {
            errors.push(
                group.span(),
                "a kernel's parameters must be the same in every build: remove the attribute, or write \
                 two kernels",
            );
        }
    }
    &tokens[end..]
}
