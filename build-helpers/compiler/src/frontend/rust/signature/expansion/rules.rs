//! The rules of a `macro_rules!` definition, and what a call binds by them.
//!
//! Matching is that of [Macros By Example] without its errors: rules are tried in turn, repetitions take as much as they
//! can, and a fragment is what syn parses at that place. What rustc would refuse may match here; rustc compiles the same
//! source, and says so.
//!
//! [Macros By Example]: https://doc.rust-lang.org/reference/macros-by-example.html

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::{collections::BTreeMap, iter::Peekable, rc::Rc};
use syn::{
    Block, Expr, Item, Lit, Meta, Pat, Path, Token, Type, Visibility,
    parse::{ParseStream, Parser},
};

/// `(matcher) => { transcriber }`.
pub(super) struct Rule {
    matcher: Vec<Matcher>,
    pub(super) transcriber: TokenStream,
}

/// A part of a matcher.
enum Matcher {
    /// A word or sign that stands there as it is.
    Token(TokenTree),
    /// Brackets around more.
    Group(Delimiter, Vec<Matcher>),
    /// `$name:kind`.
    Fragment { name: String, kind: String },
    /// `$( .. ) separator *`.
    Repetition { parts: Vec<Matcher>, separator: Option<TokenTree>, most: usize, least: usize },
}

/// What a name of a matcher stands for.
#[derive(Clone)]
pub(super) enum Binding {
    One(TokenStream),
    Many(Rc<[Bindings]>),
}

/// What the names of a matcher, or of one turn of a repetition, stand for.
pub(super) type Bindings = BTreeMap<String, Binding>;

/// The rules between the braces of `macro_rules! name { .. }`; `None` where they are not understood.
pub(super) fn read(body: TokenStream) -> Option<Vec<Rule>> {
    let mut rules = Vec::new();
    let mut tokens = body.into_iter();
    while let Some(token) = tokens.next() {
        let TokenTree::Group(matcher) = token else { return None };
        let (Some(TokenTree::Punct(first)), Some(TokenTree::Punct(second))) =
            (tokens.next(), tokens.next())
        else {
            return None;
        };
        let Some(TokenTree::Group(transcriber)) = tokens.next() else { return None };
        if (first.as_char(), second.as_char()) != ('=', '>') {
            return None;
        }
        rules
            .push(Rule { matcher: matchers(matcher.stream())?, transcriber: transcriber.stream() });
        match tokens.next() {
            None => break,
            Some(TokenTree::Punct(end)) if end.as_char() == ';' => {}
            Some(_) => return None,
        }
    }
    Some(rules)
}

fn matchers(tokens: TokenStream) -> Option<Vec<Matcher>> {
    let mut parts = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        parts.push(match token {
            TokenTree::Punct(sign) if sign.as_char() == '$' => match tokens.next()? {
                TokenTree::Ident(name) => {
                    let is_colon =
                        |it: TokenTree| matches!(it, TokenTree::Punct(it) if it.as_char() == ':');
                    let TokenTree::Ident(kind) = tokens
                        .next()
                        .filter(|it| is_colon(it.clone()))
                        .and_then(|_| tokens.next())?
                    else {
                        return None;
                    };
                    Matcher::Fragment { name: name.to_string(), kind: kind.to_string() }
                }
                TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                    let (separator, most, least) = repeated(&mut tokens)?;
                    let parts = matchers(group.stream())?;
                    Matcher::Repetition { parts, separator, most, least }
                }
                _ => return None,
            },
            TokenTree::Group(group) => Matcher::Group(group.delimiter(), matchers(group.stream())?),
            token => Matcher::Token(token),
        });
    }
    Some(parts)
}

/// The separator of a repetition, and the most and the least of its turns.
pub(super) fn repeated(
    tokens: &mut Peekable<impl Iterator<Item = TokenTree>>,
) -> Option<(Option<TokenTree>, usize, usize)> {
    let turns = |token: &TokenTree| match token {
        TokenTree::Punct(sign) => match sign.as_char() {
            '*' => Some((usize::MAX, 0)),
            '+' => Some((usize::MAX, 1)),
            '?' => Some((1, 0)),
            _ => None,
        },
        _ => None,
    };
    let first = tokens.next()?;
    // `$(..)+*` has `+` as its separator; `?` has none.
    let is_end = |token: &TokenTree| turns(token).is_some();
    match (turns(&first), tokens.peek()) {
        (Some((most, _)), Some(next)) if most > 1 && is_end(next) && !is_question(next) => {
            let (most, least) = tokens.next().as_ref().and_then(turns)?;
            Some((Some(first), most, least))
        }
        (Some((most, least)), _) => Some((None, most, least)),
        (None, _) => {
            let (most, least) = tokens.next().as_ref().and_then(turns)?;
            Some((Some(first), most, least))
        }
    }
}

fn is_question(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(sign) if sign.as_char() == '?')
}

impl Rule {
    /// What the names of the rule stand for in a call with these words; `None` where the rule is not for them.
    pub(super) fn bind(&self, call: &TokenStream) -> Option<Bindings> {
        whole(&self.matcher, call)
    }
}

/// Matches all the tokens.
fn whole(matcher: &[Matcher], tokens: &TokenStream) -> Option<Bindings> {
    let tokens: Vec<_> = tokens.clone().into_iter().collect();
    let mut bindings = Bindings::new();
    let taken = sequence(matcher, &tokens, &mut bindings)?;
    (taken == tokens.len()).then_some(bindings)
}

/// Matches the first of the tokens, and says how many.
fn sequence(matcher: &[Matcher], tokens: &[TokenTree], bindings: &mut Bindings) -> Option<usize> {
    let mut at = 0;
    for part in matcher {
        let rest = &tokens[at..];
        at += match part {
            Matcher::Token(expected) => {
                let found = rest.first().filter(|found| is_same(expected, found));
                found.map(|_| 1)?
            }
            Matcher::Group(delimiter, inner) => {
                let Some(TokenTree::Group(group)) = rest.first() else { return None };
                if group.delimiter() != *delimiter {
                    return None;
                }
                bindings.extend(whole(inner, &group.stream())?);
                1
            }
            Matcher::Fragment { name, kind } => {
                let taken = fragment(kind, rest)?;
                let bound = rest[..taken].iter().cloned().collect();
                bindings.insert(name.clone(), Binding::One(in_one(kind, bound)));
                taken
            }
            Matcher::Repetition { parts, separator, most, least } => {
                let (turns, taken) = repetition(parts, separator.as_ref(), *most, rest);
                if turns.len() < *least {
                    return None;
                }
                let turns: Rc<[Bindings]> = turns.into();
                let mut names = Vec::new();
                collect_names(parts, &mut names);
                for name in names {
                    bindings.insert(name, Binding::Many(Rc::clone(&turns)));
                }
                taken
            }
        };
    }
    Some(at)
}

/// The turns of a repetition, and the number of tokens in them.
fn repetition(
    parts: &[Matcher],
    separator: Option<&TokenTree>,
    most: usize,
    tokens: &[TokenTree],
) -> (Vec<Bindings>, usize) {
    let (mut turns, mut end) = (Vec::new(), 0);
    while turns.len() < most && end < tokens.len() {
        let mut at = end;
        if let (Some(separator), false) = (separator, turns.is_empty()) {
            if !is_same(separator, &tokens[at]) {
                break;
            }
            at += 1;
        }
        let mut bindings = Bindings::new();
        // A turn of nothing would be repeated without end.
        match sequence(parts, &tokens[at..], &mut bindings) {
            Some(taken) if taken > 0 => end = at + taken,
            _ => break,
        }
        turns.push(bindings);
    }
    (turns, end)
}

fn collect_names(parts: &[Matcher], names: &mut Vec<String>) {
    for part in parts {
        match part {
            Matcher::Token(_) => {}
            Matcher::Group(_, inner) | Matcher::Repetition { parts: inner, .. } => {
                collect_names(inner, names);
            }
            Matcher::Fragment { name, .. } => names.push(name.clone()),
        }
    }
}

fn is_same(expected: &TokenTree, found: &TokenTree) -> bool {
    match (expected, found) {
        (TokenTree::Punct(expected), TokenTree::Punct(found)) => {
            expected.as_char() == found.as_char()
        }
        (TokenTree::Ident(expected), TokenTree::Ident(found)) => expected == found,
        (TokenTree::Literal(expected), TokenTree::Literal(found)) => {
            expected.to_string() == found.to_string()
        }
        _ => false,
    }
}

/// The number of tokens that a fragment takes.
fn fragment(kind: &str, tokens: &[TokenTree]) -> Option<usize> {
    let first = tokens.first();
    match kind {
        "tt" => match first? {
            // A lifetime is two tokens here, and one to rustc.
            TokenTree::Punct(sign) if sign.as_char() == '\'' => Some(2),
            _ => Some(1),
        },
        "ident" => matches!(first?, TokenTree::Ident(name) if name != "_").then_some(1),
        "lifetime" => {
            matches!(first?, TokenTree::Punct(sign) if sign.as_char() == '\'').then_some(2)
        }
        "vis" => parsed::<Visibility>(tokens, |input| input.parse()),
        _ if first.is_none() => None,
        "block" => parsed::<Block>(tokens, |input| input.parse()),
        "expr" | "expr_2021" => parsed::<Expr>(tokens, |input| input.parse()),
        "item" => parsed::<Item>(tokens, |input| input.parse()),
        "literal" => match first? {
            TokenTree::Punct(sign) if sign.as_char() == '-' => {
                matches!(tokens.get(1), Some(TokenTree::Literal(_))).then_some(2)
            }
            _ => parsed::<Lit>(tokens, |input| input.parse()),
        },
        "meta" => parsed::<Meta>(tokens, |input| input.parse()),
        "pat" => parsed::<Pat>(tokens, Pat::parse_multi_with_leading_vert),
        "pat_param" => parsed::<Pat>(tokens, Pat::parse_single),
        "path" => parsed::<Path>(tokens, |input| input.parse()),
        "stmt" => parsed(tokens, statement),
        "ty" => parsed::<Type>(tokens, Type::without_plus),
        _ => None,
    }
}

/// A statement, without the semicolon at its end.
fn statement(input: ParseStream<'_>) -> syn::Result<()> {
    if input.parse::<Option<Token![let]>>()?.is_none() {
        return input.parse::<Expr>().map(drop);
    }
    Pat::parse_multi_with_leading_vert(input)?;
    if input.parse::<Option<Token![:]>>()?.is_some() {
        input.parse::<Type>()?;
    }
    if input.parse::<Option<Token![=]>>()?.is_some() {
        input.parse::<Expr>()?;
    }
    Ok(())
}

/// The number of tokens that a parser takes.
fn parsed<T>(
    tokens: &[TokenTree],
    parse: impl Fn(ParseStream<'_>) -> syn::Result<T>,
) -> Option<usize> {
    /// More tokens than a parser looks at behind what it takes.
    const LOOKED_AT: usize = 8;
    // A list of many fragments is not read from each of them to its end.
    let mut length = 64;
    loop {
        let given = tokens.len().min(length);
        let stream: TokenStream = tokens[..given].iter().cloned().collect();
        let rest = |input: ParseStream<'_>| {
            parse(input)?;
            input.parse::<TokenStream>()
        };
        let rest = rest.parse2(stream).ok().map(|rest| rest.into_iter().count());
        match rest {
            Some(rest) if given == tokens.len() || rest >= LOOKED_AT => return Some(given - rest),
            None if given == tokens.len() => return None,
            _ => length *= 8,
        }
    }
}

/// A fragment as one operand, whatever it is written next to.
fn in_one(kind: &str, tokens: TokenStream) -> TokenStream {
    let is_expression = kind == "expr" || kind == "expr_2021";
    if !is_expression || tokens.clone().into_iter().nth(1).is_none() {
        return tokens;
    }
    let span = tokens.clone().into_iter().next().map(|it| it.span());
    let mut group = proc_macro2::Group::new(Delimiter::Parenthesis, tokens);
    if let Some(span) = span {
        group.set_span(span);
    }
    TokenTree::Group(group).into()
}
