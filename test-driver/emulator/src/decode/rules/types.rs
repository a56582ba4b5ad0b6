//! The types and roundings of arithmetic, logic and comparison.
//!
//! PTX ISA, "Integer Arithmetic Instructions" to "Data Movement and Conversion Instructions".

use super::form::Form;
use crate::decode::problem::Problem;
use crate::ptx::Type::{self, *};

const INTEGERS: &[Type] = &[U16, S16, U32, S32, U64, S64];
const WORDS: &[Type] = &[U32, S32, U64, S64];
const SIGNED: &[Type] = &[S16, S32, S64];
const BITS: &[Type] = &[B16, B32, B64];
const BIG: &[Type] = &[F32, F64];
const HALVES: &[Type] = &[F16, F16x2, Bf16, Bf16x2];
const PAIRS: &[Type] = &[U16x2, S16x2];
const ROUNDINGS: [&str; 4] = ["rn", "rz", "rm", "rp"];

/// The types that an instruction is there for; `None` where it is not in this table.
fn types(form: &Form<'_>) -> Option<Vec<&'static [Type]>> {
    let wide = form.has("wide");
    let parts = form.one_of(&["lo", "hi"]).is_some();
    Some(match form.opcode {
        "add" | "sub" | "mad" | "addc" | "subc" if form.has("cc") => vec![WORDS],
        "add" => vec![INTEGERS, PAIRS, HALVES, BIG, &[F32x2]],
        "min" | "max" => vec![INTEGERS, PAIRS, HALVES, BIG],
        "sub" => vec![INTEGERS, HALVES, BIG, &[F32x2]],
        "mul" | "mad" if wide => vec![&[U16, S16, U32, S32]],
        "mul" | "mad" if parts => vec![INTEGERS],
        "mul" | "fma" => vec![HALVES, BIG, &[F32x2]],
        "mad" => vec![BIG],
        "div" => vec![INTEGERS, BIG],
        "rem" | "sad" | "addc" | "subc" => vec![INTEGERS],
        "abs" | "neg" => vec![SIGNED, HALVES, BIG],
        "and" | "or" | "xor" | "not" => vec![BITS, &[Pred]],
        "cnot" | "shl" => vec![BITS],
        "shr" => vec![BITS, INTEGERS],
        "popc" | "clz" | "brev" | "bfi" => vec![&[B32, B64]],
        "bfind" | "bfe" => vec![WORDS],
        "mul24" | "mad24" | "szext" => vec![&[U32, S32]],
        "fns" | "bmsk" | "prmt" | "shf" | "lop3" | "activemask" => vec![&[B32]],
        "rcp" | "sqrt" | "rsqrt" | "copysign" | "testp" => vec![BIG],
        "sin" | "cos" | "lg2" => vec![&[F32]],
        "ex2" | "tanh" => vec![HALVES, &[F32]],
        "selp" | "slct" => vec![BITS, INTEGERS, BIG],
        "mov" => vec![BITS, INTEGERS, BIG, &[Pred, B128]],
        _ => return None,
    })
}

pub(super) fn check(form: &Form<'_>) -> Result<(), Problem> {
    if matches!(form.opcode, "setp" | "set") {
        return check_comparison(form);
    }
    let (Some(types), Some(ty)) = (types(form), form.ty()) else { return Ok(()) };
    if !types.iter().any(|types| types.contains(&ty)) {
        return form.refuse(&format!("does not support the type `.{}`", ty.name()));
    }
    if ty == F32x2 && form.capability < 100 {
        return form.refuse("needs sm_100");
    }
    if form.has("lo") && form.has("hi") {
        return form.refuse("has both `.lo` and `.hi`");
    }
    let combines = form.opcode == "lop3" && form.one_of(&["and", "or"]).is_some();
    if combines && form.version < (8, 2) {
        return form.refuse("with a predicate needs PTX 8.2");
    }
    check_approximation(form, ty)?;
    check_rounding(form, ty)?;
    check_saturation(form, ty)
}

/// What has several accuracies says which.
fn check_approximation(form: &Form<'_>, ty: Type) -> Result<(), Problem> {
    let rounded = form.one_of(&ROUNDINGS).is_some();
    let approximate = form.has("approx");
    let complete = match form.opcode {
        "fma" => rounded,
        "mad" if ty.is_float() => rounded,
        "div" if ty.is_float() => rounded || approximate || form.has("full"),
        "rcp" | "sqrt" => rounded || approximate,
        "sin" | "cos" | "lg2" | "ex2" | "tanh" | "rsqrt" => approximate,
        "shf" => form.one_of(&["wrap", "clamp"]).is_some(),
        "mul24" | "mad24" => form.one_of(&["lo", "hi"]).is_some(),
        _ => true,
    };
    if !complete {
        return form.refuse("needs a modifier: a rounding, `.approx`, `.lo` or the like");
    }
    let inexact = form.one_of(&["approx", "full"]);
    match inexact {
        Some(inexact) if ty == F64 => match form.opcode {
            "rsqrt" => Ok(()),
            "rcp" if form.has("ftz") => Ok(()),
            "rcp" => form.refuse("needs `.ftz`"),
            _ => form.refuse_modifier(inexact),
        },
        _ => Ok(()),
    }
}

fn check_rounding(form: &Form<'_>, ty: Type) -> Result<(), Problem> {
    let Some(rounding) = form.one_of(&ROUNDINGS) else { return Ok(()) };
    let big = matches!(ty, F32 | F64 | F32x2);
    if big || rounding == "rn" && HALVES.contains(&ty) {
        return Ok(());
    }
    form.refuse_modifier(rounding)
}

/// `.ftz`, `.sat`, `.relu`
fn check_saturation(form: &Form<'_>, ty: Type) -> Result<(), Problem> {
    let flushes = match form.opcode {
        "ex2" => matches!(ty, F32 | Bf16 | Bf16x2),
        "tanh" => false,
        "rcp" | "rsqrt" if ty == F64 => form.has("approx"),
        "slct" => form.types.contains(&F32),
        _ => matches!(ty, F32 | F16 | F16x2 | F32x2),
    };
    if form.has("ftz") && !flushes {
        return form.refuse_modifier("ftz");
    }
    let whole = match form.opcode {
        "add" | "sub" => ty == S32 || ty == U32 && form.version >= (9, 2),
        "mad" | "mad24" => ty == S32 && form.has("hi"),
        _ => false,
    };
    if form.has("sat") && !whole && !matches!(ty, F32 | F16 | F16x2) {
        return form.refuse_modifier("sat");
    }
    let clamps = matches!(form.opcode, "min" | "max") && matches!(ty, S32 | S16x2);
    let relu = clamps || form.opcode == "fma" && HALVES.contains(&ty);
    if form.has("relu") && !relu {
        return form.refuse_modifier("relu");
    }
    if form.has("NaN") && ty == F64 {
        return form.refuse_modifier("NaN");
    }
    if form.opcode == "ex2" && matches!(ty, Bf16 | Bf16x2) && !form.has("ftz") {
        return form.refuse("needs `.ftz`");
    }
    Ok(())
}

/// `setp` and `set`: the last type is that of what is compared.
fn check_comparison(form: &Form<'_>) -> Result<(), Problem> {
    let Some(&ty) = form.types.last() else { return Ok(()) };
    let is_unsigned = ty.is_integer() && !ty.is_signed();
    let compared = BITS.contains(&ty) || INTEGERS.contains(&ty) || ty.is_float() && ty != Tf32;
    if !compared {
        return form.refuse(&format!("does not support the type `.{}`", ty.name()));
    }
    let orders = ["lt", "le", "gt", "ge"];
    let unsigned = ["lo", "ls", "hi", "hs"];
    let unordered = ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];
    let wrong = if ty.is_float() {
        form.one_of(&unsigned)
    } else if is_unsigned {
        form.one_of(&unordered)
    } else if ty.is_signed() {
        form.one_of(&unordered).or(form.one_of(&unsigned))
    } else {
        form.one_of(&unordered).or(form.one_of(&unsigned)).or(form.one_of(&orders))
    };
    match wrong {
        Some(wrong) => form.refuse_modifier(wrong),
        None if form.has("ftz") && !matches!(ty, F32 | F16 | F16x2) => form.refuse_modifier("ftz"),
        None => Ok(()),
    }
}
