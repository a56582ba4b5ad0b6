//! Uses of the attributes `#[kernel]` and `#[device_fn]` that make no kernel: under another name, twice, or on a condition.

use super::{
    alias::renamed_attribute,
    cfg::Predicate,
    scope::{ModuleId, Scope},
    syntax::{DEVICE_FN, bare, has_rows},
    text::Text,
};
use crate::diagnostic::{Code, Diagnostic};
use syn::{
    Attribute, FnArg, Item, ItemFn, Meta, Pat, Token, Type, ext::IdentExt, punctuated::Punctuated,
};

/// Types that are no integer, and so no width of rows. Any other name may stand for one.
const NO_WIDTHS: [&str; 6] = ["f16", "bf16", "f32", "f64", "bool", "char"];

/// Everything that is wrong with the attributes of an item, by file.
pub(super) fn misused(
    scope: &Scope<'_>,
    module: ModuleId,
    item: &Item,
) -> Vec<(usize, Diagnostic)> {
    let Item::Fn(function) = item else { return Vec::new() };
    if scope.leaves_out(&function.attrs) {
        return Vec::new();
    }
    let mut reports: Vec<_> = renamed(scope, module, function).into_iter().collect();
    for name in ["kernel", DEVICE_FN] {
        reports.extend(twice(scope, module, function, name));
        let conditional = function.attrs.iter().filter_map(|it| conditional(scope, it, name));
        reports.extend(conditional.map(|(condition, mark)| {
            on_condition(scope, module, function, name, &condition, &mark)
        }));
    }
    reports.into_iter().map(|it| (scope.file(module), it)).collect()
}

/// The report of a function marked by one of our attributes under another name.
fn renamed(scope: &Scope<'_>, module: ModuleId, function: &ItemFn) -> Option<Diagnostic> {
    let (attribute, name) = renamed_attribute(scope, module, &function.attrs)?;
    let message = format!("`#[{name}]` is written under another name");
    let help = format!("write `#[{name}]`: functions are found by it, before names are resolved");
    let place = scope.text(module).place(attribute);
    Some(Diagnostic::error(Code::HiddenKernel, place, message).help(help))
}

/// The report of a function that has an attribute of this name more than once.
fn twice(scope: &Scope<'_>, module: ModuleId, function: &ItemFn, name: &str) -> Option<Diagnostic> {
    let is_mark = |it: &&Attribute| it.path().segments.last().is_some_and(|it| it.ident == name);
    let mut marks = function.attrs.iter().filter(is_mark);
    let (first, second) = (marks.next()?, marks.next()?);
    let text = scope.text(module);
    let message = format!("function `{}` is marked `#[{name}]` twice", function.sig.ident);
    let help = "remove one of them, and give the other one the arguments of both";
    Some(
        Diagnostic::error(Code::KernelAttribute, text.place(second), message)
            .label(text.place(first), "the first one")
            .help(help),
    )
}

/// The condition of `#[cfg_attr(condition, kernel)]` that may hold, and the attribute in it.
fn conditional(scope: &Scope<'_>, attribute: &Attribute, name: &str) -> Option<(Meta, Meta)> {
    if !attribute.path().is_ident("cfg_attr") {
        return None;
    }
    let all = Punctuated::<Predicate, Token![,]>::parse_terminated;
    let mut parts = attribute.parse_args_with(all).ok()?.into_iter().map(|it| it.0);
    let condition = parts.next().filter(|it| !scope.is_false(it))?;
    let mark = parts.find(|it| it.path().segments.last().is_some_and(|it| it.ident == name))?;
    Some((condition, mark))
}

fn on_condition(
    scope: &Scope<'_>,
    module: ModuleId,
    function: &ItemFn,
    name: &str,
    condition: &Meta,
    mark: &Meta,
) -> Diagnostic {
    let text = scope.text(module);
    let message = format!(
        "function `{}` is marked `#[{name}]` by a `cfg_attr` with a condition",
        function.sig.ident
    );
    let (condition, written) = (text.written(condition), text.written(mark));
    let help = format!(
        "write `#[cfg({condition})]` and `#[{written}]`: functions are found by attributes that are not inside of \
         `cfg_attr`"
    );
    Diagnostic::error(Code::HiddenKernel, text.place(mark), message).help(help)
}

/// The types of a function's parameters that are slices with rows, `DisjointSlice<T, Index2D>`.
pub(super) fn slices_with_rows(function: &ItemFn) -> impl Iterator<Item = &Type> {
    let types = function.sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(&*typed.ty),
        FnArg::Receiver(_) => None,
    });
    types.filter(|ty| matches!(bare(ty), Type::Path(it) if has_rows(&it.path)))
}

/// What is wrong with the width of the rows, which is a parameter that can be one: the message and the help.
pub(super) fn wrong_width(
    function: &ItemFn,
    width: &str,
    text: &Text<'_>,
) -> Option<(String, String)> {
    let named = function.sig.inputs.iter().find_map(|input| match input {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(it) if it.ident.unraw() == width => Some(&*typed.ty),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    });
    let is_no_width = |ty: &Type| match bare(ty) {
        Type::Path(it) => it.path.get_ident().is_some_and(|it| NO_WIDTHS.iter().any(|no| it == no)),
        Type::Macro(_) => false,
        _ => true,
    };
    match named {
        Some(ty) if !is_no_width(ty) => None,
        Some(ty) => Some((
            format!(
                "has the argument `width = {width}`, a parameter whose type `{}` is not an integer",
                text.written(ty)
            ),
            format!("declare the parameter as `{width}: u32`"),
        )),
        None => Some((
            format!("has the argument `width = {width}`, which does not name a parameter"),
            format!("add the parameter `{width}: u32`, or name one that exists"),
        )),
    }
}
