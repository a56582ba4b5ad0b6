//! Parts of types and attributes as they are written.

use kernelmill_artifact::Access;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{
    Attribute, Expr, GenericArgument, Path, PathArguments, PathSegment, Type, ext::IdentExt,
};

/// A type without parentheses and invisible groups.
pub(super) fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Paren(inner) => bare(&inner.elem),
        Type::Group(inner) => bare(&inner.elem),
        _ => ty,
    }
}

/// The names in a path.
pub(super) fn segments(path: &Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect()
}

/// `T` of `DisjointSlice<T>` and `DisjointSlice<T, Index2D>`, under any path.
pub(super) fn disjoint_element(path: &Path) -> Option<&Type> {
    let last = path.segments.last().filter(|segment| segment.ident == "DisjointSlice")?;
    first_argument(last)
}

/// Whether a path is `DisjointSlice<T, Index2D>`, whose elements are in rows.
pub(super) fn has_rows(path: &Path) -> bool {
    let Some(last) = path.segments.last().filter(|it| it.ident == "DisjointSlice") else {
        return false;
    };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return false };
    arguments.args.iter().any(|argument| match argument {
        GenericArgument::Type(ty) => match bare(ty) {
            Type::Path(it) => it.path.segments.last().is_some_and(|it| it.ident == "Index2D"),
            _ => false,
        },
        _ => false,
    })
}

/// The first type among a path segment's arguments.
pub(super) fn first_argument(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// What a kernel does with the tensor of a `TensorMap<T, D>` or `TensorMapMut<T, D>`, under any path.
pub(super) fn tensor_map(path: &Path) -> Option<Access> {
    let last = path.segments.last()?;
    match last.ident.to_string().as_str() {
        "TensorMap" => Some(Access::Read),
        "TensorMapMut" => Some(Access::Write),
        _ => None,
    }
}

/// The second of a path segment's arguments, where it is a number.
pub(super) fn second_argument(segment: &PathSegment) -> Option<&Expr> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    match arguments.args.iter().nth(1) {
        Some(GenericArgument::Const(number)) => Some(number),
        _ => None,
    }
}

/// The attribute of functions that the host can give to kernels.
pub(super) const DEVICE_FN: &str = "device_fn";

/// The attribute of this name, under any path.
pub(super) fn marked<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a Attribute> {
    attributes
        .iter()
        .find(|attribute| attribute.path().segments.last().is_some_and(|last| last.ident == name))
}

/// The first of our attributes in the text of a macro.
pub(super) fn marker_in(tokens: TokenStream) -> Option<&'static str> {
    let mut after_hash = false;
    for token in tokens {
        match token {
            TokenTree::Punct(punct) => {
                after_hash = punct.as_char() == '#' || (after_hash && punct.as_char() == '!');
                continue;
            }
            TokenTree::Group(group) => {
                let inside = group.stream();
                let found = match after_hash && group.delimiter() == Delimiter::Bracket {
                    true => attribute_in(inside),
                    false => marker_in(inside),
                };
                if found.is_some() {
                    return found;
                }
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => {}
        }
        after_hash = false;
    }
    None
}

/// Which of our attributes the tokens between `#[` and `]` are.
fn attribute_in(tokens: TokenStream) -> Option<&'static str> {
    let path = tokens.into_iter().take_while(|it| !matches!(it, TokenTree::Group(_)));
    let last =
        path.filter_map(|it| if let TokenTree::Ident(name) = it { Some(name) } else { None });
    let last = last.last()?;
    ["kernel", DEVICE_FN].into_iter().find(|name| last == name)
}
