//! Paths in a module of kernels that lead out of it: devices get the module alone.
//!
//! Paths are found among the words of a text, in macros too, and under whatever condition that may hold.

use super::crate_modules::bytes;
use kernelmill_compiler::frontend::rust::signature::Cfgs;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use std::ops::Range;
use syn::{Attribute, Meta, parse_quote};

/// A path that leads out of a module of kernels.
#[derive(Debug, PartialEq)]
pub(super) struct Outward {
    /// Where it stands.
    pub(super) span: Range<usize>,
    /// As it is written, with the end of what it takes of a module: `super::*`.
    pub(super) written: String,
    /// The name at its end; none of a module's whole content.
    pub(super) name: Option<String>,
}

/// The paths that lead out of the module `kernels` in a file of a crate, which holds the module `module`.
pub(super) fn find(text: &str, module: &[String], kernels: &[String], cfgs: &Cfgs) -> Vec<Outward> {
    let Ok(tokens) = text.parse::<TokenStream>() else { return Vec::new() };
    let mut search = Search { text, kernels, cfgs, found: Vec::new() };
    search.look_into(tokens, module);
    search.found
}

struct Search<'a> {
    text: &'a str,
    kernels: &'a [String],
    cfgs: &'a Cfgs,
    found: Vec<Outward>,
}

impl Search<'_> {
    fn look_into(&mut self, tokens: TokenStream, module: &[String]) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                TokenTree::Punct(sign) if sign.as_char() == '#' => {
                    if let Some(TokenTree::Group(group)) = tokens.get(at)
                        && group.delimiter() == Delimiter::Bracket
                        && self.leaves_out(group.stream())
                    {
                        at = behind_item(&tokens, at + 1);
                    }
                }
                TokenTree::Group(group) => self.look_into(group.stream(), module),
                TokenTree::Ident(word) if word == "mod" => {
                    if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(group))) =
                        (tokens.get(at), tokens.get(at + 1))
                        && group.delimiter() == Delimiter::Brace
                    {
                        let name = name.to_string().trim_start_matches("r#").to_owned();
                        self.look_into(group.stream(), &[module, &[name]].concat());
                        at += 2;
                    }
                }
                TokenTree::Ident(word) if word == "super" || word == "crate" => {
                    let before = at.checked_sub(2).and_then(|before| tokens.get(before));
                    // `$crate`, and `pub(in super::a)`.
                    let is_other = match before {
                        Some(TokenTree::Punct(sign)) => sign.as_char() == '$',
                        Some(TokenTree::Ident(word)) => word == "in",
                        _ => false,
                    };
                    let path = Path::read(&tokens, at - 1);
                    at = path.end;
                    if !is_other {
                        self.check(&path, module);
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    fn check(&mut self, path: &Path, module: &[String]) {
        let Some((first, rest)) = path.names.split_first().filter(|_| path.is_longer) else {
            return;
        };
        let above = rest.iter().take_while(|name| *name == "super").count();
        let base = match first.as_str() {
            "crate" => Vec::new(),
            _ => module[..module.len().saturating_sub(above + 1)].to_vec(),
        };
        let names = if first == "crate" { rest } else { &rest[above..] };
        let target = [base.as_slice(), names].concat();
        if target.starts_with(self.kernels) {
            return;
        }
        let span = bytes(self.text, path.first).start..bytes(self.text, path.last).end;
        let mut written = path.names.join("::");
        written.push_str(path.ending);
        let name = names.last().filter(|_| path.ending.is_empty()).cloned();
        self.found.push(Outward { span, written, name });
    }

    /// Whether an attribute leaves out the item after it.
    fn leaves_out(&self, attribute: TokenStream) -> bool {
        let Ok(meta) = syn::parse2::<Meta>(attribute) else { return false };
        let attribute: Attribute = parse_quote!(#[#meta]);
        self.cfgs.leave_out(&[attribute])
    }
}

/// Behind an item: its body, or the semicolon at its end.
fn behind_item(tokens: &[TokenTree], start: usize) -> usize {
    let is_end = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(sign) => sign.as_char() == ';',
        _ => false,
    };
    let rest = tokens.get(start..).unwrap_or_default();
    rest.iter().position(is_end).map_or(tokens.len(), |length| start + length + 1)
}

/// A path among words.
struct Path {
    names: Vec<String>,
    /// `::*` or `::{..}`.
    ending: &'static str,
    /// Whether it is more than one word.
    is_longer: bool,
    first: Span,
    last: Span,
    /// Behind its last word.
    end: usize,
}

impl Path {
    fn read(tokens: &[TokenTree], start: usize) -> Self {
        let first = tokens[start].span();
        let name = |token: &TokenTree| token.to_string().trim_start_matches("r#").to_owned();
        let mut path = Self {
            names: vec![name(&tokens[start])],
            ending: "",
            is_longer: false,
            first,
            last: first,
            end: start + 1,
        };
        let is_colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(sign)) if sign.as_char() == ':');
        while is_colon(path.end) && is_colon(path.end + 1) {
            path.is_longer = true;
            match tokens.get(path.end + 2) {
                Some(token @ TokenTree::Ident(_)) => {
                    path.names.push(name(token));
                    path.last = token.span();
                    path.end += 3;
                }
                Some(TokenTree::Punct(sign)) if sign.as_char() == '*' => {
                    path.ending = "::*";
                    path.last = sign.span();
                    path.end += 3;
                    break;
                }
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    path.ending = "::{..}";
                    path.end += 2;
                    break;
                }
                _ => break,
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outward(text: &str) -> Vec<String> {
        let names = |path: &str| path.split("::").map(str::to_owned).collect::<Vec<_>>();
        let cfgs = Cfgs::new(["feature=\"on\"".to_owned()]);
        let found = find(text, &[], &names("gpu::blur"), &cfgs);
        for path in &found {
            let start = path.written.split("::").next().unwrap();
            assert!(text[path.span.clone()].starts_with(start), "{path:?}");
        }
        found.into_iter().map(|path| path.written).collect()
    }

    #[test]
    fn paths_that_lead_out_are_found_wherever_they_stand() {
        let text = "mod gpu { mod blur {
            use super::*;
            use super::{a, b};
            use crate::Host;
            pub(crate) fn f(x: super::super::T) { g!(crate::gpu::other::x); }
            mod inner { use super::super::X; }
            #[cfg(feature = \"on\")] use super::On;
        } }";
        let expected = [
            "super::*",
            "super::{..}",
            "crate::Host",
            "super::super::T",
            "crate::gpu::other::x",
            "super::super::X",
            "super::On",
        ];
        assert_eq!(outward(text), expected);
    }

    #[test]
    fn paths_that_stay_and_what_is_left_out_are_not() {
        let text = "mod gpu { mod blur {
            use crate::gpu::blur::inner::*;
            use super::blur::X;
            pub(super) struct X;
            pub(in super::super) struct Y;
            macro_rules! m { () => { $crate::Host } }
            mod inner { use super::X; pub(in crate::gpu) fn g() {} }
            #[cfg(test)] mod tests { use super::*; use crate::Host; }
            #[cfg(not(kernelmill))] use crate::{Host, Other};
            #[cfg(feature = \"off\")] fn f() { crate::host() }
            fn g() -> f32 { \"super::x\"; /* super::y */ 1.0 }
        } }";
        assert_eq!(outward(text), [""; 0]);
    }
}
