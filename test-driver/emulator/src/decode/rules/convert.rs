//! The types and roundings of `cvt`.
//!
//! PTX ISA, "cvt".

use super::form::Form;
use crate::decode::problem::Problem;
use crate::ptx::Type::{self, *};

const TO_FLOAT: [&str; 4] = ["rn", "rz", "rm", "rp"];
const TO_INTEGRAL: [&str; 4] = ["rni", "rzi", "rmi", "rpi"];

/// What the rules ask of a conversion: its roundings, and whether it has one at all.
struct Rounding {
    allowed: &'static [&'static str],
    needed: bool,
}

/// Conversions of one number to one number; those of packed and narrow ones are told apart where they are decoded.
pub(super) fn check(form: &Form<'_>) -> Result<(), Problem> {
    let &[to, from] = form.types.as_slice() else { return Ok(()) };
    if form.has("pack") {
        return Ok(());
    }
    if matches!(to, E4m3x2 | E5m2x2) && !form.has("satfinite") {
        return form.refuse("needs `.satfinite`");
    }
    let is_packed = |ty| matches!(ty, F16x2 | Bf16x2 | Tf32 | E4m3x2 | E5m2x2);
    if is_packed(to) || is_packed(from) {
        return check_packed(form, to);
    }
    let number = |ty: Type| ty.is_integer() && ty != U16x2 && ty != S16x2 || ty.is_float();
    let is_byte = |ty| matches!(ty, U8 | S8);
    let brain_byte = to == Bf16 && is_byte(from) || from == Bf16 && is_byte(to);
    if !number(to) || !number(from) || brain_byte {
        return form.refuse("does not support these types");
    }
    check_rounding(form, &rounding(to, from))?;
    check_flags(form, to, from)
}

fn check_packed(form: &Form<'_>, to: Type) -> Result<(), Problem> {
    let given = form.one_of(&["rn", "rz", "rna", "rm", "rp"]);
    match given {
        None => form.refuse("needs a rounding modifier"),
        Some(rounding @ ("rm" | "rp")) => form.refuse_modifier(rounding),
        Some("rna") if to != Tf32 => form.refuse_modifier("rna"),
        _ => Ok(()),
    }
}

fn rounding(to: Type, from: Type) -> Rounding {
    let (allowed, needed): (&[&str], bool) = match (to.is_float(), from.is_float()) {
        (false, false) => (&[], false),
        (true, false) => (&TO_FLOAT, true),
        (false, true) => (&TO_INTEGRAL, true),
        (true, true) if to == from => (&TO_INTEGRAL, false),
        (true, true) if from == Bf16 || (to, from) == (Bf16, F16) => (&["rn"], false),
        (true, true) if to.bits() < from.bits() => (&TO_FLOAT, true),
        (true, true) => (&[], false),
    };
    Rounding { allowed, needed }
}

fn check_rounding(form: &Form<'_>, rounding: &Rounding) -> Result<(), Problem> {
    let mut every = TO_FLOAT.to_vec();
    every.extend(TO_INTEGRAL);
    every.push("rna");
    if form.count(&every) > 1 {
        return form.refuse("has two rounding modifiers");
    }
    match form.one_of(&every) {
        Some(given) if !rounding.allowed.contains(&given) => form.refuse_modifier(given),
        None if rounding.needed => form.refuse("needs a rounding modifier"),
        _ => Ok(()),
    }
}

/// `.ftz`, `.sat`, `.relu`
fn check_flags(form: &Form<'_>, to: Type, from: Type) -> Result<(), Problem> {
    let flushes = match (to, from) {
        (_, F32) => to != Bf16,
        (F32, _) => from.is_float(),
        _ => false,
    };
    if form.has("ftz") && !flushes {
        return form.refuse_modifier("ftz");
    }
    let saturates = match (to.is_float(), from.is_float()) {
        (false, false) => !holds(to, from),
        (true, _) => to != Bf16 && from != Bf16,
        (false, true) => true,
    };
    if form.has("sat") && !saturates {
        return form.refuse_modifier("sat");
    }
    if form.has("relu") && !(matches!(to, F16 | Bf16) && from == F32) {
        return form.refuse_modifier("relu");
    }
    Ok(())
}

/// Whether every value of `from` is one of `to`.
fn holds(to: Type, from: Type) -> bool {
    match (to.is_signed(), from.is_signed()) {
        (true, false) => to.bits() > from.bits(),
        (false, true) => false,
        _ => to.bits() >= from.bits(),
    }
}
