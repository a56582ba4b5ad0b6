//! The arguments of the attribute `#[kernel(..)]`.

use crate::{
    error::Errors,
    instances::{self, Listed},
    tokens::{flatten, is_group, is_punct, span, split, text},
};
use proc_macro::{Delimiter, Ident, TokenStream, TokenTree};

/// The arguments of the attribute.
pub(crate) struct Arguments {
    /// 1, 2 or 3.
    pub(crate) dimension: u32,
    /// The parameter that holds the width of the rows.
    pub(crate) width: Option<Ident>,
    /// Whether arithmetic gets fast-math flags.
    pub(crate) fast_math: bool,
    /// The instances of a generic kernel.
    pub(crate) instances: Vec<Listed>,
}

/// Reads the arguments. Errors go to `errors`.
pub(crate) fn read(stream: TokenStream, errors: &mut Errors) -> Arguments {
    let tokens = flatten(stream);
    let instances = Vec::new();
    let mut arguments = Arguments { dimension: 1, width: None, fast_math: false, instances };
    let mut seen: Vec<String> = Vec::new();
    for part in split(&tokens, ',') {
        let name = part.first().map(ToString::to_string).unwrap_or_default();
        if seen.contains(&name) {
            errors.push(span(part), format!("`{name}` is given twice: write it once"));
        }
        match name.as_str() {
            "dim" => read_dimension(part, &mut arguments, errors),
            "width" => read_width(part, &mut arguments, errors),
            "instances" => arguments.instances = instances::read(part, errors),
            "variants" => check_variants(part, errors),
            "fast_math" if part.len() == 1 => arguments.fast_math = true,
            bound if NUMBERS.contains(&bound) || SIZES.contains(&bound) => {
                check_bound(part, bound, errors);
            }
            _ => errors.push(
                span(part),
                format!(
                    "`{}` is not an argument of `#[kernel]`, which takes `dim`, `width`, `fast_math`, \
                     `instances`, `variants`, `launch_bounds`, `block_size`, `min_blocks`, `max_registers`, `index_width` and \
                     `cluster`: write `#[kernel]`, `#[kernel(dim = 2)]` or `#[kernel(launch_bounds = 256)]`",
                    text(part)
                ),
            ),
        }
        seen.push(name);
    }
    if let Some(width) = &arguments.width
        && arguments.dimension != 2
    {
        errors.push(width.span(), "`width` is for kernels of two dimensions: write `dim = 2` too");
        arguments.width = None;
    }
    arguments
}

/// Launch bounds with one number, and with one number for each axis.
const NUMBERS: [&str; 4] = ["launch_bounds", "min_blocks", "max_registers", "index_width"];
const SIZES: [&str; 2] = ["block_size", "cluster"];
/// Launch bounds of a variant.
const VARIANT_LIMITS: [&str; 5] =
    ["launch_bounds", "block_size", "min_blocks", "max_registers", "index_width"];

/// Checks the syntax of a launch bound; the compiler checks its numbers.
fn check_bound(part: &[TokenTree], name: &str, errors: &mut Errors) {
    let value = match part {
        [_, equals, value] if is_punct(Some(equals), '=') => Some(value),
        _ => None,
    };
    let fits = match value {
        Some(TokenTree::Literal(_)) => NUMBERS.contains(&name),
        Some(TokenTree::Group(_)) => SIZES.contains(&name),
        _ => false,
    };
    if !fits {
        let example = if SIZES.contains(&name) { "[2, 1, 1]" } else { "64" };
        errors.push(
            span(part.get(2..).filter(|rest| !rest.is_empty()).unwrap_or(part)),
            format!("`{name}` takes numbers: write `{name} = {example}`"),
        );
    }
}

/// Checks the syntax of `variants = [{ launch_bounds = 64 }]`; the build reads what they say.
fn check_variants(part: &[TokenTree], errors: &mut Errors) {
    let wrong = "`variants` takes a list with the limits of each variant: write `variants = [{ launch_bounds = 64 }]`";
    let list = match part {
        [_, equals, list] if is_punct(Some(equals), '=') => Some(list),
        _ => None,
    };
    let Some(TokenTree::Group(group)) = list.filter(|it| is_group(Some(it), Delimiter::Bracket))
    else {
        errors.push(span(part), wrong);
        return;
    };
    for item in split(&flatten(group.stream()), ',') {
        let [TokenTree::Group(variant)] = item else {
            errors.push(span(item), wrong);
            continue;
        };
        let said = flatten(variant.stream());
        if variant.delimiter() != Delimiter::Brace || said.is_empty() {
            errors.push(variant.span(), wrong);
        }
        for part in split(&said, ',') {
            let name = part.first().map(ToString::to_string).unwrap_or_default();
            if VARIANT_LIMITS.contains(&name.as_str()) {
                check_bound(part, &name, errors);
            } else {
                let message = "a variant in the attribute takes `launch_bounds`, `block_size`, `min_blocks`, `max_registers` \
                               and `index_width`: write `name`, `targets` and `define` in the settings of the build";
                errors.push(span(part), message);
            }
        }
    }
}

fn read_dimension(part: &[TokenTree], arguments: &mut Arguments, errors: &mut Errors) {
    match part {
        [_, equals, TokenTree::Literal(value)] if is_punct(Some(equals), '=') => {
            match value.to_string().as_str() {
                "1" => arguments.dimension = 1,
                "2" => arguments.dimension = 2,
                "3" => arguments.dimension = 3,
                other => errors.push(
                    value.span(),
                    format!("a kernel has 1, 2 or 3 dimensions, not `{other}`: write `dim = 2`"),
                ),
            }
        }
        _ => errors.push(
            span(part.get(2..).filter(|rest| !rest.is_empty()).unwrap_or(part)),
            "`dim` takes one of the literals 1, 2 and 3: write `dim = 2`",
        ),
    }
}

fn read_width(part: &[TokenTree], arguments: &mut Arguments, errors: &mut Errors) {
    match part {
        [_, equals, TokenTree::Ident(name)] if is_punct(Some(equals), '=') => {
            arguments.width = Some(name.clone());
        }
        _ => errors.push(
            span(part.get(2..).filter(|rest| !rest.is_empty()).unwrap_or(part)),
            "`width` takes the name of a parameter of the kernel: write `width = w`",
        ),
    }
}
