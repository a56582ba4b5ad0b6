//! What a rule of a macro writes for what its names stand for.

use super::rules::{Binding, Bindings, repeated};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use std::iter::Peekable;

/// What names stand for, in the turns of the repetitions that are being written.
pub(super) struct Names<'b>(pub(super) Vec<&'b Bindings>);

impl<'b> Names<'b> {
    fn get(&self, name: &str) -> Option<&'b Binding> {
        self.0.iter().rev().find_map(|bindings| bindings.get(name))
    }
}

/// What is written for a call.
pub(super) struct Transcriber {
    /// Where what comes from the definition is said to stand; `None` where it stands in the same file as the call.
    pub(super) span: Option<Span>,
    /// The tokens that may still be written.
    pub(super) left: usize,
}

impl Transcriber {
    /// Writes a transcriber's tokens; `None` where that takes what is not understood, or too many tokens.
    pub(super) fn write(&mut self, tokens: TokenStream, names: &Names<'_>) -> Option<TokenStream> {
        let mut output = Vec::new();
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(sign) if sign.as_char() == '$' => {
                    self.variable(&sign, &mut tokens, names, &mut output)?;
                }
                TokenTree::Group(group) => {
                    let inner = self.write(group.stream(), names)?;
                    let mut written = Group::new(group.delimiter(), inner);
                    written.set_span(self.span.unwrap_or(group.span()));
                    self.count(1)?;
                    output.push(TokenTree::Group(written));
                }
                token => self.push(token, &mut output)?,
            }
        }
        Some(output.into_iter().collect())
    }

    /// What follows a `$`.
    fn variable(
        &mut self,
        sign: &proc_macro2::Punct,
        tokens: &mut Peekable<impl Iterator<Item = TokenTree>>,
        names: &Names<'_>,
        output: &mut Vec<TokenTree>,
    ) -> Option<()> {
        match tokens.next()? {
            TokenTree::Ident(name) if name == "crate" => {
                let span = self.span.unwrap_or(name.span());
                self.count(1)?;
                output.push(TokenTree::Ident(Ident::new("crate", span)));
                Some(())
            }
            TokenTree::Ident(name) => match names.get(&name.to_string()) {
                Some(Binding::One(bound)) => {
                    let bound: Vec<_> = bound.clone().into_iter().collect();
                    self.count(bound.len())?;
                    output.extend(bound);
                    Some(())
                }
                // It is repeated, and stands in no repetition.
                Some(Binding::Many(_)) => None,
                // A macro that is defined by what is written has names of its own.
                None => {
                    self.push(TokenTree::Punct(sign.clone()), output)?;
                    self.push(TokenTree::Ident(name), output)
                }
            },
            TokenTree::Group(group) => {
                let (separator, ..) = repeated(tokens)?;
                self.repetition(&group, separator.as_ref(), names, output)
            }
            _ => None,
        }
    }

    fn repetition(
        &mut self,
        group: &Group,
        separator: Option<&TokenTree>,
        names: &Names<'_>,
        output: &mut Vec<TokenTree>,
    ) -> Option<()> {
        let mut used = Vec::new();
        names_in(group.stream(), &mut used);
        let mut repeated = Vec::new();
        for name in &used {
            if let Some(Binding::Many(turns)) = names.get(name) {
                repeated.push(turns);
            }
        }
        let count = repeated.first()?.len();
        if repeated.iter().any(|turns| turns.len() != count) {
            return None;
        }
        for turn in 0..count {
            if let (Some(separator), true) = (separator, turn > 0) {
                self.push(separator.clone(), output)?;
            }
            let own = names.0.iter().copied().chain(repeated.iter().map(|turns| &turns[turn]));
            output.extend(self.write(group.stream(), &Names(own.collect()))?);
        }
        Some(())
    }

    fn push(&mut self, mut token: TokenTree, output: &mut Vec<TokenTree>) -> Option<()> {
        if let Some(span) = self.span {
            token.set_span(span);
        }
        self.count(1)?;
        output.push(token);
        Some(())
    }

    fn count(&mut self, tokens: usize) -> Option<()> {
        self.left = self.left.checked_sub(tokens)?;
        Some(())
    }
}

/// The names behind `$` in tokens.
fn names_in(tokens: TokenStream, names: &mut Vec<String>) {
    let mut after_dollar = false;
    for token in tokens {
        match token {
            TokenTree::Ident(name) if after_dollar => names.push(name.to_string()),
            TokenTree::Group(group) => names_in(group.stream(), names),
            TokenTree::Punct(sign) if sign.as_char() == '$' => {
                after_dollar = true;
                continue;
            }
            _ => {}
        }
        after_dollar = false;
    }
}
