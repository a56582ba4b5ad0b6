//! The modifiers of loads, stores and atomic operations.
//!
//! PTX ISA, "ld", "st", "ldu", "atom" and "red".

use super::form::Form;
use crate::decode::moves::vector;
use crate::decode::problem::Problem;
use crate::ptx::Type::{self, *};

const ORDERS: [&str; 5] = ["volatile", "relaxed", "acquire", "release", "acq_rel"];
const SCOPES: [&str; 4] = ["cta", "cluster", "gpu", "sys"];
const CACHES: [&str; 7] = ["ca", "cg", "cs", "lu", "cv", "wb", "wt"];
/// Spaces in which nothing is shared between threads.
const UNORDERED: [&str; 5] = ["const", "local", "param", "param::entry", "param::func"];

/// `ld`, `ldu` and `st`, with this number of operands.
pub(super) fn check(form: &Form<'_>, operands: usize) -> Result<(), Problem> {
    let known: &[Type] = &[B8, U8, S8, B16, U16, S16, B32, U32, S32, B64, U64, S64, F32, F64, B128];
    if let Some(ty) = form.ty().filter(|ty| !known.contains(ty)) {
        return form.refuse(&format!("does not support the type `.{}`", ty.name()));
    }
    let foreign: &[&str] = match form.opcode {
        "ld" => &["release", "acq_rel", "wb", "wt"],
        "st" => &["acquire", "acq_rel", "nc", "ca", "lu", "cv", "const", "param::entry"],
        _ => &[
            "volatile",
            "relaxed",
            "acquire",
            "ca",
            "cg",
            "cs",
            "lu",
            "cv",
            "const",
            "shared",
            "shared::cta",
            "shared::cluster",
            "local",
            "param",
            "param::entry",
            "param::func",
        ],
    };
    if let Some(foreign) = form.one_of(foreign) {
        return form.refuse_modifier(foreign);
    }
    if form.has("nc") && !form.has("global") {
        return form.refuse("needs `.global`");
    }
    check_order(form)?;
    check_cache(form, operands)?;
    check_width(form)
}

/// An order needs a scope and memory that is shared; a cache operator goes without.
fn check_order(form: &Form<'_>) -> Result<(), Problem> {
    let order = form.one_of(&ORDERS);
    if form.count(&ORDERS) + form.count(&["weak"]) > 1 {
        return form.refuse("has two memory orders");
    }
    let scope = form.one_of(&SCOPES);
    match (order, scope) {
        (Some("volatile"), Some(scope)) => return form.refuse_modifier(scope),
        (Some("volatile"), None) | (None, None) | (Some(_), Some(_)) => {}
        (Some(_), None) => return form.refuse("needs a scope"),
        (None, Some(scope)) => return form.refuse_modifier(scope),
    }
    let volatile_local = order == Some("volatile") && form.has("local") && form.version >= (9, 1);
    match form.one_of(&UNORDERED) {
        Some(_) if volatile_local => {}
        Some(_) if order.is_some() => {
            return form.refuse_modifier(order.unwrap_or_default());
        }
        _ => {}
    }
    if form.has("mmio") && !matches!(order, Some("relaxed" | "acquire" | "release")) {
        return form.refuse("needs `.relaxed`, `.acquire` or `.release`");
    }
    match form.one_of(&CACHES) {
        Some(cache) if order.is_some() => form.refuse_modifier(cache),
        _ => Ok(()),
    }
}

fn check_cache(form: &Form<'_>, operands: usize) -> Result<(), Problem> {
    if form.count(&CACHES) > 1 {
        return form.refuse("has two cache operators");
    }
    let prefetches =
        form.modifiers.iter().find_map(|word| word.strip_prefix("L2::")?.strip_suffix('B'));
    if prefetches.is_some_and(|bytes| !matches!(bytes, "64" | "128" | "256")) {
        return form.refuse("can prefetch 64, 128 or 256 bytes only");
    }
    let hinted = form.has("L2::cache_hint");
    match operands {
        2 if hinted => form.refuse("needs a cache policy"),
        3 if !hinted => form.refuse("has a cache policy, but no `.L2::cache_hint`"),
        _ => Ok(()),
    }
}

/// A vector has 128 bits; 256 in global memory since sm_100.
fn check_width(form: &Form<'_>) -> Result<(), Problem> {
    let lanes = form.modifiers.iter().find_map(|word| vector(word));
    let (Some(lanes), Some(ty)) = (lanes, form.ty()) else { return Ok(()) };
    let bits = lanes * ty.bits();
    let wide = form.capability >= 100 && form.version >= (8, 8) && form.has("global");
    match bits {
        0..=128 if lanes < 8 || ty.bits() == 8 => Ok(()),
        256 if wide && ty.bits() >= 32 && ty != B128 => Ok(()),
        _ => form.refuse(&format!("cannot access a vector of {bits} bits")),
    }
}

/// `atom` and `red`
pub(super) fn check_atomic(form: &Form<'_>, operands: usize) -> Result<(), Problem> {
    let foreign: &[&str] = match form.opcode {
        "red" => &["exch", "cas", "acquire", "acq_rel", "volatile", "weak"],
        _ => &["volatile", "weak"],
    };
    if let Some(foreign) = form.one_of(foreign).or(form.one_of(&UNORDERED)) {
        return form.refuse_modifier(foreign);
    }
    let wanted = if form.opcode == "red" { 2 } else { 3 };
    let wanted = wanted
        + [form.has("cas"), form.has("L2::cache_hint")].map(usize::from).iter().sum::<usize>();
    if operands != wanted {
        return form.refuse(&format!("has {operands} operands, not {wanted}"));
    }
    let (Some(ty), Some(types)) = (form.ty(), atomic_types(form)) else { return Ok(()) };
    if !types.contains(&ty) {
        return form.refuse(&format!("does not support the type `.{}`", ty.name()));
    }
    let half = matches!(ty, F16 | F16x2 | Bf16 | Bf16x2);
    let vector = form.modifiers.iter().any(|word| vector(word).is_some());
    match form.has("noftz") {
        false if half && !vector => form.refuse("needs `.noftz`"),
        true if !half => form.refuse_modifier("noftz"),
        _ => Ok(()),
    }
}

/// The types of an operation.
fn atomic_types(form: &Form<'_>) -> Option<&'static [Type]> {
    let vector = form.modifiers.iter().any(|word| vector(word).is_some());
    let operations = ["add", "inc", "dec", "min", "max", "and", "or", "xor", "exch", "cas"];
    Some(match form.one_of(&operations)? {
        _ if vector => return None,
        "add" => &[U32, S32, U64, F32, F64, F16, F16x2, Bf16, Bf16x2],
        "inc" | "dec" => &[U32],
        "min" | "max" => &[U32, S32, U64, S64],
        "exch" => &[B32, B64, B128],
        "cas" => &[B16, B32, B64, B128],
        _ => &[B32, B64],
    })
}
