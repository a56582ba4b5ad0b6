//! The parameter that `width = w` names, which the entry point uses even if the function does not.

use crate::{
    template::expand,
    tokens::{is_ident, split},
};
use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// `item` without the compiler's warning that the parameter `name` is not used.
pub(crate) fn mark_as_used(item: TokenStream, name: &str) -> TokenStream {
    let mut after_fn = false;
    let mut done = false;
    item.into_iter()
        .map(|token| {
            after_fn |= is_ident(Some(&token), "fn");
            match token {
                TokenTree::Group(group)
                    if after_fn && !done && group.delimiter() == Delimiter::Parenthesis =>
                {
                    done = true;
                    let mut marked = Group::new(Delimiter::Parenthesis, mark(&group, name));
                    marked.set_span(group.span());
                    marked.into()
                }
                token => token,
            }
        })
        .collect()
}

fn mark(parameters: &Group, name: &str) -> TokenStream {
    let tokens: Vec<TokenTree> = parameters.stream().into_iter().collect();
    let attribute = "#[allow(unused_variables, reason = \"the width of the rows\")] PARAMETER,";
    let mut output = TokenStream::new();
    for part in split(&tokens, ',') {
        let named = is_ident(part.first(), name);
        let text = if named { attribute } else { "PARAMETER," };
        output.extend(expand(text, &[("PARAMETER", part.iter().cloned().collect())]));
    }
    output
}
