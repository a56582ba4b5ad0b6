//! Code templates: text with named slots, as `quote!` without the dependency.

use proc_macro::{Group, TokenStream, TokenTree};

/// The tokens of `text`, in which every identifier that names a slot is replaced by its tokens.
///
/// The replacements keep their spans, so that errors in them show the user's own code.
///
/// # Panics
///
/// When `text`, which is always a constant of this crate, is not made of Rust tokens.
pub(crate) fn expand(text: &str, slots: &[(&str, TokenStream)]) -> TokenStream {
    let Ok(stream) = text.parse() else { panic!("a template that is not Rust: {text}") };
    fill(stream, slots)
}

fn fill(stream: TokenStream, slots: &[(&str, TokenStream)]) -> TokenStream {
    let mut output = TokenStream::new();
    for token in stream {
        match token {
            TokenTree::Group(group) => {
                let mut filled = Group::new(group.delimiter(), fill(group.stream(), slots));
                filled.set_span(group.span());
                output.extend([TokenTree::from(filled)]);
            }
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                match slots.iter().find(|(slot, _)| *slot == name) {
                    Some((_, tokens)) => output.extend(tokens.clone()),
                    None => output.extend([TokenTree::from(ident)]),
                }
            }
            token => output.extend([token]),
        }
    }
    output
}
