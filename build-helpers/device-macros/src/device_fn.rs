//! The attribute `#[device_fn]`: exports a function, so that a function table can hold its address, and makes a type of its
//! name, for kernels that take a function as a type parameter.

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

const TYPE: &str = r#"
CONDITIONS
#[doc = "The function of this name as a type, for generic kernels: `FUNCTION::call(..)` is a call of it."]
#[allow(non_camel_case_types, dead_code, reason = "named as the function is, and used or not")]
#[derive(Clone, Copy, Debug)]
VISIBILITY struct FUNCTION {}
CONDITIONS
impl ::kernelmill_device::Function<(TYPES)> for FUNCTION {
    type Output = RESULT;
    #[inline(always)]
    #[allow(clippy::unused_unit, clippy::semicolon_if_nothing_returned, reason = "any function")]
    fn call((ARGUMENTS): (TYPES)) -> RESULT {
        FUNCTION(ARGUMENTS)
    }
}"#;

/// The function with its type and its exported entry point. Errors go to `errors`.
pub(crate) fn expand_item(item: TokenStream, errors: &mut Errors) -> TokenStream {
    let mut output =
        expand("#[allow(dead_code, reason = \"the host names a device function\")]", &[]);
    let tokens = flatten(item.clone());
    let attributes = &tokens[..skip_attributes(&tokens)];
    let has_inline = attributes.iter().any(|token| is_attribute(token, "inline"));
    let entry = entry(&tokens, errors);
    if errors.is_empty() && !has_inline {
        // Calls by its type are inlined; where the host chooses it, the exported function is called.
        output.extend(expand("#[inline(always)]", &[]));
    }
    output.extend(item);
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
            "`#[device_fn]` must be on a function: write `#[device_fn] pub fn name(..) -> .. { .. }`",
        );
        return None;
    };
    check_qualifiers(&tokens[start..position], errors);
    if is_punct(tokens.get(position), '<') {
        errors.push(
            span(&tokens[position..]),
            "a device function cannot have type, constant or lifetime parameters: write a function for \
             each type, which calls a generic one",
        );
        return None;
    }
    let list = tokens.get(position)?;
    let TokenTree::Group(group) = list else { return None };
    let end = tokens.iter().rposition(|token| is_group(Some(token), Delimiter::Brace))?;
    let (mut parameters, mut arguments) = (TokenStream::new(), TokenStream::new());
    let mut types = TokenStream::new();
    for (index, part) in split(&flatten(group.stream()), ',').into_iter().enumerate() {
        let colon = find_colon(part)?;
        let name = identifier(&format!("__kernelmill_p{index}"));
        let ty: TokenStream = part[colon + 1..].iter().cloned().collect();
        let slots = [("NAME", name), ("TYPE", ty)];
        parameters.extend(expand("NAME: TYPE,", &slots));
        arguments.extend(expand("NAME,", &slots));
        types.extend(expand("TYPE,", &slots));
    }
    let written = name.to_string();
    let symbol = ascii(written.strip_prefix("r#").unwrap_or(&written));
    let output: TokenStream = tokens[position + 1..end].iter().cloned().collect();
    let result = match tokens.get(position + 3..end) {
        Some(result) if !result.is_empty() => result.iter().cloned().collect(),
        _ => expand("()", &[]),
    };
    let slots = [
        ("CONDITIONS", conditions(&tokens[..start])),
        ("VISIBILITY", visibility(&tokens[start..])),
        ("TYPES", types),
        ("RESULT", result),
        ("FUNCTION", TokenTree::from(name.clone()).into()),
        ("ARGUMENTS", arguments.clone()),
    ];
    let mut items = expand(TYPE, &slots);
    let slots = [
        ("ENTRY_NAME", identifier(&format!("__kernelmill_exported_{symbol}"))),
        ("PARAMETERS", parameters),
        ("OUTPUT", output),
        ("FUNCTION", TokenTree::from(name).into()),
        ("ARGUMENTS", arguments),
    ];
    items.extend(expand(ENTRY, &slots));
    Some(items)
}

/// The attributes `#[cfg(..)]` among those of the function.
fn conditions(attributes: &[TokenTree]) -> TokenStream {
    let mut found = TokenStream::new();
    for pair in attributes.windows(2) {
        if is_punct(pair.first(), '#') && pair.get(1).is_some_and(|it| is_attribute(it, "cfg")) {
            found.extend(pair.iter().cloned());
        }
    }
    found
}

/// Whether these are the brackets of an attribute of this name.
fn is_attribute(brackets: &TokenTree, name: &str) -> bool {
    matches!(brackets, TokenTree::Group(group)
        if is_ident(group.stream().into_iter().next().as_ref(), name))
}

/// The visibility that starts these tokens.
fn visibility(tokens: &[TokenTree]) -> TokenStream {
    let is_restricted = is_group(tokens.get(1), Delimiter::Parenthesis);
    let length = match is_ident(tokens.first(), "pub") {
        true => 1 + usize::from(is_restricted),
        false => 0,
    };
    tokens[..length].iter().cloned().collect()
}

/// Checks the tokens before the name: `unsafe` and `extern` are errors.
fn check_qualifiers(tokens: &[TokenTree], errors: &mut Errors) {
    for (word, what) in
        [("unsafe", "must be safe to call"), ("extern", "must have the ABI of Rust")]
    {
        if let Some(token) = tokens.iter().find(|token| is_ident(Some(token), word)) {
            errors.push(token.span(), format!("a device function {what}: remove `{word}`"));
        }
    }
}

fn identifier(name: &str) -> TokenStream {
    TokenTree::from(Ident::new(name, Span::call_site())).into()
}
