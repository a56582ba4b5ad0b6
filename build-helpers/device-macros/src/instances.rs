//! Instances of a generic kernel: the types and constants that it is compiled for, as the attribute and
//! the settings of the build list them.

use crate::{
    error::Errors,
    function::{Function, Generic},
    template::expand,
    tokens::{flatten, is_group, is_punct, span, split},
};
use proc_macro::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};

/// The variable in which the build says which instances the settings list: a line for each, `kernel: f32, 16`.
const VARIABLE: &str = "KERNELMILL_INSTANCES";

/// An instance as it is listed, and where.
pub(crate) struct Listed {
    text: String,
    place: Span,
}

/// An instance: what the entry of a generic kernel calls.
pub(crate) struct Instance {
    /// What its name has after the kernel's.
    pub(crate) suffix: String,
    /// The items that stand for the kernel's parameters in the entry.
    pub(crate) items: TokenStream,
    /// The arguments, each a name of one of those items' own.
    pub(crate) arguments: TokenStream,
    /// The arguments as they are written, by the names of the kernel's parameters.
    pub(crate) written: Vec<(String, Vec<TokenTree>)>,
}

/// Reads the list of `instances = ["f32, 16"]`.
pub(crate) fn read(part: &[TokenTree], errors: &mut Errors) -> Vec<Listed> {
    let list = match part {
        [_, equals, list] if is_punct(Some(equals), '=') => Some(list),
        _ => None,
    };
    let wrong = "`instances` takes a list of strings: write `instances = [\"f32, 16\"]`";
    let Some(TokenTree::Group(group)) = list.filter(|it| is_group(Some(it), Delimiter::Bracket))
    else {
        errors.push(span(part), wrong);
        return Vec::new();
    };
    let mut listed = Vec::new();
    for item in split(&flatten(group.stream()), ',') {
        match item {
            [TokenTree::Literal(literal)] if text_of(literal).is_some() => {
                let text = text_of(literal).unwrap_or_default();
                listed.push(Listed { text, place: literal.span() });
            }
            _ => errors.push(span(item), wrong),
        }
    }
    listed
}

/// The text of a string literal without escapes.
fn text_of(literal: &Literal) -> Option<String> {
    let written = literal.to_string();
    let inner = match written.strip_prefix('r') {
        Some(raw) => raw.trim_matches('#'),
        None if written.contains('\\') => return None,
        None => &written,
    };
    Some(inner.strip_prefix('"')?.strip_suffix('"')?.to_owned())
}

/// Every instance of a generic kernel: those of the attribute, then those of the settings.
pub(crate) fn of(listed: &[Listed], function: &Function, errors: &mut Errors) -> Vec<Instance> {
    let place = function.name.span();
    let of_settings = std::env::var(VARIABLE).unwrap_or_default();
    let of_settings = of_settings.lines().filter_map(|line| {
        let (kernel, text) = line.split_once(": ")?;
        (kernel == function.plain_name()).then(|| Listed { text: text.to_owned(), place })
    });
    let of_settings: Vec<_> = of_settings.collect();
    let all = listed.iter().chain(&of_settings);
    all.filter_map(|listed| instance(listed, &function.generics, errors)).collect()
}

fn instance(listed: &Listed, generics: &[Generic], errors: &mut Errors) -> Option<Instance> {
    let Listed { text, place } = listed;
    let Ok(tokens) = text.parse::<TokenStream>() else {
        errors.push(*place, format!("`{text}` is not Rust: write types and constants"));
        return None;
    };
    let tokens = flatten(tokens);
    let parts = split(&tokens, ',');
    if parts.len() != generics.len() {
        let (has, wants) = (parts.len(), generics.len());
        errors.push(
            *place,
            format!("the instance `{text}` has {has} arguments, and the kernel has {wants} type and constant parameters: write {wants}"),
        );
        return None;
    }
    let mut instance = Instance {
        suffix: suffix(text),
        items: TokenStream::new(),
        arguments: TokenStream::new(),
        written: Vec::new(),
    };
    for (index, (generic, part)) in generics.iter().zip(parts).enumerate() {
        let own = match generic.constant {
            None => format!("__KernelmillArgument{index}"),
            Some(_) => format!("__KERNELMILL_ARGUMENT_{index}"),
        };
        let own: TokenStream = TokenTree::from(Ident::new(&own, *place)).into();
        let slots = [
            ("OWN", own.clone()),
            ("TYPE", generic.constant.clone().unwrap_or_default()),
            ("ARGUMENT", at(part.iter().cloned().collect(), *place)),
        ];
        let item = match generic.constant {
            None => "type OWN = ARGUMENT;",
            Some(_) => "const OWN: TYPE = ARGUMENT;",
        };
        instance.items.extend(expand(item, &slots));
        instance.arguments.extend(expand("OWN,", &slots));
        instance.written.push((generic.name.to_string(), part.to_vec()));
    }
    Some(instance)
}

/// The items that give a kernel's parameters the values of an instance's own items: inside of these, so that a
/// parameter may have the name of a type.
pub(crate) fn aliases(generics: &[Generic]) -> TokenStream {
    let mut items = TokenStream::new();
    for (index, generic) in generics.iter().enumerate() {
        let name = TokenTree::from(generic.name.clone()).into();
        let slots = [("NAME", name), ("TYPE", generic.constant.clone().unwrap_or_default())];
        let item = match generic.constant {
            None => format!("type NAME = __KernelmillArgument{index};"),
            Some(_) => format!("const NAME: TYPE = __KERNELMILL_ARGUMENT_{index};"),
        };
        items.extend(expand(&item, &slots));
    }
    items
}

/// Tokens at another place.
fn at(tokens: TokenStream, place: Span) -> TokenStream {
    let place_at = |token: TokenTree| {
        let mut token = match token {
            TokenTree::Group(group) => {
                Group::new(group.delimiter(), at(group.stream(), place)).into()
            }
            token => token,
        };
        token.set_span(place);
        token
    };
    tokens.into_iter().map(place_at).collect()
}

/// What the name of an instance has after the kernel's: the letters and digits of its arguments, with an
/// underscore for all that is between them, and `minus` for a minus sign. The build names it by the same rule.
fn suffix(text: &str) -> String {
    let mut suffix = String::new();
    let mut is_apart = true;
    for character in text.chars() {
        if character.is_alphanumeric() {
            if is_apart {
                suffix.push('_');
            }
            suffix.push(character);
            is_apart = false;
        } else {
            if character == '-' {
                suffix.push_str("_minus");
            }
            is_apart = true;
        }
    }
    suffix
}
