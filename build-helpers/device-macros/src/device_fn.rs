//! The attribute `#[device_fn]`: an entry of the function that a table of functions can name.

use crate::{
    error::Errors,
    function::{find_colon, find_name, skip_attributes},
    template::expand,
    tokens::{flatten, is_group, is_ident, is_punct, span, split},
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

/// The function with its entry; faults go to `errors`.
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
    for (word, what) in [("unsafe", "is called without `unsafe`"), ("extern", "is one of Rust")] {
        let found = tokens[start..position].iter().find(|token| is_ident(Some(token), word));
        if let Some(token) = found {
            errors.push(token.span(), format!("a device function {what}: remove `{word}`"));
        }
    }
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
    let inner = flatten(group.stream());
    let (mut parameters, mut arguments) = (TokenStream::new(), TokenStream::new());
    for (index, part) in split(&inner, ',').into_iter().enumerate() {
        let colon = find_colon(part)?;
        let name = identifier(&format!("__kernelmill_p{index}"));
        let ty: TokenStream = part[colon + 1..].iter().cloned().collect();
        let slots = [("NAME", name), ("TYPE", ty)];
        parameters.extend(expand("NAME: TYPE,", &slots));
        arguments.extend(expand("NAME,", &slots));
    }
    let symbol: String = name.to_string();
    let symbol = symbol.strip_prefix("r#").unwrap_or(&symbol);
    let symbol = crate::function::ascii(symbol);
    Some(expand(
        ENTRY,
        &[
            ("ENTRY_NAME", identifier(&format!("__kernelmill_exported_{symbol}"))),
            ("PARAMETERS", parameters),
            ("OUTPUT", tokens[position + 1..end].iter().cloned().collect()),
            ("FUNCTION", TokenTree::from(name).into()),
            ("ARGUMENTS", arguments),
        ],
    ))
}

fn identifier(name: &str) -> TokenStream {
    TokenTree::from(Ident::new(name, Span::call_site())).into()
}
