//! The attribute `#[device_fn]`: exports a function, so that a function table can hold its address.

use crate::{
    error::Errors,
    function::{ascii, find_name},
    template::expand,
    tokens::{find_colon, flatten, is_group, is_ident, is_punct, skip_attributes, span, split},
};
use proc_macro::{Delimiter, Ident, Span, TokenStream, TokenTree};

const ENTRY: &str = r#"
::kernelmill_device::__entry! {
    #[allow(warnings, clippy::all, clippy::pedantic, clippy::restriction)]
    const _: () = {
        #[unsafe(no_mangle)]
        pub fn ENTRY_NAME(PARAMETERS) OUTPUT {
            FUNCTION(ARGUMENTS)
        }
    };
}"#;

/// The function with its exported entry point. Errors go to `errors`.
pub(crate) fn expand_item(item: TokenStream, errors: &mut Errors) -> TokenStream {
    let mut output =
        expand("#[allow(dead_code, reason = \"the host names a device function\")]", &[]);
    output.extend(item.clone());
    let entry = entry(&flatten(item), errors);
    if errors.is_empty() {
        output.extend(entry);
    }
    output
}

fn entry(tokens: &[TokenTree], errors: &mut Errors) -> Option<TokenStream> {
    let start = skip_attributes(tokens);
    let Some((position, name)) = find_name(tokens, start, errors) else {
        errors.push(
            span(&tokens[start..]),
            "`#[device_fn]` stands on a function: write `#[device_fn] pub fn name(..) -> .. { .. }`",
        );
        return None;
    };
    check_qualifiers(&tokens[start..position], errors);
    if is_punct(tokens.get(position), '<') {
        errors.push(
            span(&tokens[position..]),
            "a device function has no type, constant or lifetime parameters: write a function for \
             each type, which calls a generic one",
        );
        return None;
    }
    let list = tokens.get(position)?;
    let TokenTree::Group(group) = list else { return None };
    let end = tokens.iter().rposition(|token| is_group(Some(token), Delimiter::Brace))?;
    let (mut parameters, mut arguments) = (TokenStream::new(), TokenStream::new());
    for (index, part) in split(&flatten(group.stream()), ',').into_iter().enumerate() {
        let colon = find_colon(part)?;
        let name = identifier(&format!("__kernelmill_p{index}"));
        let ty: TokenStream = part[colon + 1..].iter().cloned().collect();
        let slots = [("NAME", name), ("TYPE", ty)];
        parameters.extend(expand("NAME: TYPE,", &slots));
        arguments.extend(expand("NAME,", &slots));
    }
    let written = name.to_string();
    let symbol = ascii(written.strip_prefix("r#").unwrap_or(&written));
    let slots = [
        ("ENTRY_NAME", identifier(&format!("__kernelmill_exported_{symbol}"))),
        ("PARAMETERS", parameters),
        ("OUTPUT", tokens[position + 1..end].iter().cloned().collect()),
        ("FUNCTION", TokenTree::from(name).into()),
        ("ARGUMENTS", arguments),
    ];
    Some(expand(ENTRY, &slots))
}

/// Checks the tokens before the name: `unsafe` and `extern` are errors.
fn check_qualifiers(tokens: &[TokenTree], errors: &mut Errors) {
    for (word, what) in [("unsafe", "is called without `unsafe`"), ("extern", "is one of Rust")] {
        if let Some(token) = tokens.iter().find(|token| is_ident(Some(token), word)) {
            errors.push(token.span(), format!("a device function {what}: remove `{word}`"));
        }
    }
}

fn identifier(name: &str) -> TokenStream {
    TokenTree::from(Ident::new(name, Span::call_site())).into()
}
