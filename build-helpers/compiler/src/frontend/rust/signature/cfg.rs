//! `#[cfg(..)]`, as far as it can be known here.

use syn::{Attribute, Meta, Token, punctuated::Punctuated};

/// Whether an item with these attributes is certainly left out when kernels are compiled.
/// Of the predicates only `test` and `kernelmill` are known; what hangs on others stays in.
pub(super) fn left_out(attributes: &[Attribute]) -> bool {
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    conditions
        .filter_map(|attribute| attribute.parse_args::<Meta>().ok())
        .any(|condition| value(&condition) == Some(false))
}

/// The value of a predicate, `None` where it is not known.
fn value(condition: &Meta) -> Option<bool> {
    let Meta::List(list) = condition else {
        return match condition {
            Meta::Path(path) if path.is_ident("test") => Some(false),
            Meta::Path(path) if path.is_ident("kernelmill") => Some(true),
            _ => None,
        };
    };
    let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?;
    let mut values = parts.iter().map(value);
    let decided_by = |deciding: bool, values: &mut dyn Iterator<Item = Option<bool>>| {
        let mut result = Some(!deciding);
        for value in values {
            match value {
                Some(value) if value == deciding => return Some(deciding),
                Some(_) => {}
                None => result = None,
            }
        }
        result
    };
    if list.path.is_ident("not") {
        values.next()?.map(|value| !value)
    } else if list.path.is_ident("all") {
        decided_by(false, &mut values)
    } else if list.path.is_ident("any") {
        decided_by(true, &mut values)
    } else {
        None
    }
}
