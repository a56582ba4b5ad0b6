//! Errors of a signature, collected and reported together.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// The errors found so far.
#[derive(Default)]
pub(crate) struct Errors(Vec<(Span, String)>);

impl Errors {
    /// Adds an error at `span`; `message` says what to write instead.
    pub(crate) fn push(&mut self, span: Span, message: impl Into<String>) {
        self.0.push((span, message.into()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One `::core::compile_error!` for each error.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.into_iter().flat_map(|(span, message)| compile_error(span, &message)).collect()
    }
}

/// `::core::compile_error!` with a message, at a place.
pub(crate) fn compile_error(span: Span, message: &str) -> Vec<TokenTree> {
    let mut text = Literal::string(message);
    text.set_span(span);
    let mut tokens: Vec<TokenTree> = Vec::new();
    for name in ["core", "compile_error"] {
        tokens.push(Punct::new(':', Spacing::Joint).into());
        tokens.push(Punct::new(':', Spacing::Alone).into());
        tokens.push(Ident::new(name, span).into());
    }
    tokens.push(Punct::new('!', Spacing::Alone).into());
    tokens.push(Group::new(Delimiter::Brace, TokenTree::from(text).into()).into());
    for token in &mut tokens {
        token.set_span(span);
    }
    tokens
}
