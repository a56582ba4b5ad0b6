//! The numbers and modifiers of barriers, fences, warp primitives, asynchronous copies and hints.
//!
//! PTX ISA, "Parallel Synchronization and Communication Instructions", "cp.async".

use super::form::{Form, number};
use crate::decode::problem::Problem;
use crate::ptx::Type::{self, *};
use crate::ptx::{Base, Operand};

/// Barriers of a block.
const BARRIERS: u64 = 16;
const WARP: u64 = 32;
/// Most arrivals that an mbarrier waits for (PTX ISA, "mbarrier.init").
const MOST_ARRIVALS: u64 = (1 << 20) - 1;

pub(super) fn check(form: &Form<'_>, operands: &[Operand<'_>]) -> Result<(), Problem> {
    match form.opcode {
        "bar" | "barrier" => check_barrier(form, operands),
        "mbarrier" => check_mbarrier(form, operands),
        "cp" => check_copy(form, operands),
        "redux" | "vote" | "match" | "elect" | "shfl" => check_warp(form, operands),
        "membar" | "fence" | "griddepcontrol" => check_fence(form),
        "ret" | "exit" | "trap" | "brkpt" => check_end(form, operands),
        "ldmatrix" | "stmatrix" => only_in_shared_memory(form),
        _ => check_hint(form, operands),
    }
}

fn check_barrier(form: &Form<'_>, operands: &[Operand<'_>]) -> Result<(), Problem> {
    if form.has("warp") || form.has("cluster") {
        return Ok(());
    }
    let reduces = form.has("red");
    let (operands, wanted) = match (operands, reduces) {
        ([_, rest @ .., _], true) => (rest, 2),
        (operands, _) => (operands, 2),
    };
    if operands.len() > wanted {
        return form.refuse("has too many operands");
    }
    if let Some(barrier) = number(operands.first()).filter(|number| *number >= BARRIERS) {
        return form.refuse(&format!("names barrier {}, but the last one is 15", barrier as i64));
    }
    let threads = number(operands.get(1));
    if threads.is_some_and(|threads| threads % WARP != 0) {
        return form.refuse("takes a number of threads that is a multiple of 32");
    }
    if form.has("arrive") && (operands.len() < 2 || threads == Some(0)) {
        return form.refuse("needs a number of threads");
    }
    match form.ty() {
        Some(ty) if reduces && (ty == U32) != form.has("popc") => form.refuse("has the wrong type"),
        _ => Ok(()),
    }
}

fn check_mbarrier(form: &Form<'_>, operands: &[Operand<'_>]) -> Result<(), Problem> {
    only_in_shared_memory(form)?;
    if form.has("init") {
        let count = number(operands.get(1));
        return match count {
            Some(count) if !(1..=MOST_ARRIVALS).contains(&count) => {
                form.refuse("takes a count from 1 to 1048575")
            }
            _ => Ok(()),
        };
    }
    let arrives = form.one_of(&["arrive", "arrive_drop"]).is_some();
    let count = number(operands.last()).filter(|_| arrives && !form.has("expect_tx"));
    if count.is_some_and(|count| count as i32 <= 0 && count != u64::from(u32::MAX)) {
        return form.refuse("takes a count above 0");
    }
    Ok(())
}

fn only_in_shared_memory(form: &Form<'_>) -> Result<(), Problem> {
    let others = ["global", "const", "local", "param", "param::entry", "param::func"];
    let remote = form.has("init") || form.opcode == "ldmatrix";
    match form.one_of(&others) {
        Some(other) => form.refuse_modifier(other),
        None if remote && form.has("shared::cluster") => form.refuse_modifier("shared::cluster"),
        None => Ok(()),
    }
}

/// `cp.async` to shared memory
fn check_copy(form: &Form<'_>, operands: &[Operand<'_>]) -> Result<(), Problem> {
    let Some(cache) = form.one_of(&["ca", "cg"]) else {
        let copies = form.count(&["global", "shared"]) == 2 && !form.has("bulk");
        return if copies { form.refuse("needs `.ca` or `.cg`") } else { Ok(()) };
    };
    let spaces: Vec<_> = form.modifiers.iter().copied().filter(|word| is_space(word)).collect();
    if !matches!(spaces.as_slice(), ["shared" | "shared::cta", "global"]) {
        return form.refuse("can copy from `.global` to `.shared` only");
    }
    let Some(bytes) = number(operands.get(2)) else { return Ok(()) };
    if cache == "cg" && bytes != 16 {
        return form.refuse("must copy 16 bytes");
    }
    let most = number(operands.get(3)).filter(|_| !form.has("L2::cache_hint"));
    match most {
        Some(most) if most > bytes => form.refuse("cannot read more bytes than it copies"),
        _ => Ok(()),
    }
}

fn is_space(word: &str) -> bool {
    let known = ["global", "shared", "const", "local", "param"];
    known.contains(&word.split("::").next().unwrap_or_default())
}

fn check_warp(form: &Form<'_>, operands: &[Operand<'_>]) -> Result<(), Problem> {
    let paired = matches!(operands.first(), Some(Operand::Pair(..)));
    match (form.opcode, form.ty()) {
        ("redux", Some(ty)) => {
            let logic = form.one_of(&["and", "or", "xor"]).is_some();
            let types: &[Type] = if logic { &[B32] } else { &[U32, S32, F32] };
            if !types.contains(&ty) {
                return form.refuse(&format!("does not support the type `.{}`", ty.name()));
            }
        }
        ("vote", Some(ty)) if (ty == Pred) == form.has("ballot") => {
            return form.refuse("has the wrong type");
        }
        ("match", _) if form.has("any") && paired => {
            return form.refuse("cannot have a predicate as its second result");
        }
        ("elect", _) if !paired => return form.refuse("needs a predicate as its second result"),
        _ => {}
    }
    Ok(())
}

fn check_fence(form: &Form<'_>) -> Result<(), Problem> {
    let complete = match form.opcode {
        "membar" => form.one_of(&["cta", "gl", "sys", "proxy"]).is_some(),
        "griddepcontrol" => form.one_of(&["wait", "launch_dependents"]).is_some(),
        _ if form.has("proxy") => form.modifiers.len() > 1,
        _ => form.one_of(&["cta", "gpu", "sys", "cluster"]).is_some(),
    };
    if complete { Ok(()) } else { form.refuse("needs a scope") }
}

fn check_end(form: &Form<'_>, operands: &[Operand<'_>]) -> Result<(), Problem> {
    if !operands.is_empty() {
        return form.refuse("takes no operands");
    }
    match form.modifiers.first() {
        Some(&modifier) if modifier != "uni" || form.opcode != "ret" => {
            form.refuse_modifier(modifier)
        }
        _ => Ok(()),
    }
}

fn check_hint(form: &Form<'_>, operands: &[Operand<'_>]) -> Result<(), Problem> {
    match form.opcode {
        "setmaxnreg" | "wgmma" if !form.specific => {
            form.refuse("needs an architecture-specific target such as sm_90a")
        }
        "pmevent"
            if number(operands.first()).is_some_and(|event| event > 15) && !form.has("mask") =>
        {
            form.refuse("takes an event from 0 to 15")
        }
        "nanosleep" if form.ty() != Some(U32) => form.refuse("must have the type `.u32`"),
        "prefetch" | "prefetchu" if !form.has("local") && is_constant(operands.first()) => {
            form.refuse("cannot have a constant as its address outside of `.local`")
        }
        "prefetch" => match form.one_of(&["const", "param", "shared", "shared::cta"]) {
            Some(space) if !form.has("tensormap") => form.refuse_modifier(space),
            _ if form.modifiers.iter().any(|word| is_level(word)) => Ok(()),
            _ => form.refuse("needs a cache level"),
        },
        "prefetchu" if !form.has("L1") => form.refuse("can prefetch to `.L1` only"),
        "discard" | "applypriority" if number(operands.get(1)) != Some(128) => {
            form.refuse("takes the size 128 only")
        }
        _ => Ok(()),
    }
}

/// Whether an operand is an address that names neither a register nor a variable.
fn is_constant(operand: Option<&Operand<'_>>) -> bool {
    let Some(Operand::Address { base, .. }) = operand else { return false };
    matches!(base, Base::Absolute(_) | Base::Name("WARP_SZ"))
}

fn is_level(word: &str) -> bool {
    matches!(word, "L1" | "L2" | "tensormap") || word.starts_with("L2::")
}
