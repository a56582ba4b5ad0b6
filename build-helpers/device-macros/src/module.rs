//! `#[kernelmill::kernels]`: a module that stays as it is. The build script finds it, and compiles it for devices.

use crate::{
    error::Errors,
    tokens::{flatten, is_group, is_ident, is_punct, skip_attributes},
};
use proc_macro::{Delimiter, Span, TokenStream, TokenTree};

/// Reports what is no module, and arguments.
pub(crate) fn check(arguments: TokenStream, item: TokenStream, errors: &mut Errors) {
    if let Some(first) = arguments.into_iter().next() {
        errors.push(first.span(), "`#[kernelmill::kernels]` takes no arguments: remove them");
    }
    let tokens = flatten(item);
    let mut at = skip_attributes(&tokens);
    if is_ident(tokens.get(at), "pub") {
        at += 1;
        at += usize::from(is_group(tokens.get(at), Delimiter::Parenthesis));
    }
    let is_module = is_ident(tokens.get(at), "mod")
        && (is_group(tokens.get(at + 2), Delimiter::Brace) || is_punct(tokens.get(at + 2), ';'));
    if !is_module {
        let span = tokens.get(at).map_or_else(Span::call_site, TokenTree::span);
        errors.push(
            span,
            "`#[kernelmill::kernels]` must be on a module: put the kernels into `mod name { .. }`, and the attribute before it",
        );
    }
}
