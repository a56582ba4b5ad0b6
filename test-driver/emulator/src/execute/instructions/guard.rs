//! Checks of registers that may be undefined: never written, taken from a lane that takes no
//! part, or the result of a function that did not write it.
//!
//! What is undefined may be carried about, computed with, chosen from and returned, as LLVM's `undef` may:
//! optimised code does so on paths where the result is not read. It may not decide anything: no branch,
//! no address, nothing that others see. Each register carries where its value became undefined, as in
//! MemorySanitizer (Stepanov and Serebryany, ["MemorySanitizer: fast detector of uninitialized memory use in
//! C++"](https://doi.org/10.1109/CGO.2015.7054186)), for a whole register at a time.

use crate::execute::machine::{Guard, Instruction, Machine, STOP, Transfer};
use crate::execute::state::Undefined;
use crate::launch::FaultKind;

/// Checks the operands of an instruction, runs it, and notes which results are undefined.
pub(crate) fn guarded(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    // Guarded code has one guard for each instruction; unwatched ones have empty lists.
    let guards = m.guards;
    let guard = &guards[pc as usize];
    let needed = guard.needs.iter().find_map(|&slot| m.thread.undefined(slot));
    let published = || if guard.transfer == Transfer::Publish { all(m, guard) } else { None };
    if let Some(undefined) = needed.or_else(published) {
        return m.fail(fault(m, undefined));
    }
    let result = result(m, guard);
    let shuffled = usize::from(guard.transfer == Transfer::Shuffle);
    for &slot in guard.defines.iter().skip(shuffled) {
        m.thread.define(slot, result);
    }
    let next = (guard.run)(m, i, pc);
    debug_assert!(next == STOP || (next as usize) < m.function.origins.len());
    next
}

fn fault(m: &Machine<'_>, undefined: Undefined) -> FaultKind {
    let names = &m.function.names;
    let name = |slot: u32| names.get(&slot).cloned().unwrap_or_else(|| format!("slot {slot}"));
    match undefined {
        Undefined::Unwritten(slot) => FaultKind::UninitializedRegister { register: name(slot) },
        Undefined::Shuffled(slot) => FaultKind::UndefinedShuffle { register: name(slot) },
        Undefined::Returned(slot) => FaultKind::UninitializedResult { variable: name(slot) },
    }
}

fn any(m: &Machine<'_>, guard: &Guard) -> Option<Undefined> {
    guard.flows.iter().find_map(|&slot| m.thread.undefined(slot))
}

fn all(m: &Machine<'_>, guard: &Guard) -> Option<Undefined> {
    let mut found = None;
    for &slot in &guard.flows {
        found = Some(m.thread.undefined(slot)?);
    }
    found
}

/// What makes the results undefined, if anything does.
fn result(m: &Machine<'_>, guard: &Guard) -> Option<Undefined> {
    let decides = |value: u64| {
        let decided = |&&slot: &&u32| m.get(slot) == value && m.thread.undefined(slot).is_none();
        guard.flows.iter().find(decided).is_some()
    };
    match (guard.transfer, guard.flows.as_slice()) {
        (Transfer::Compute, _) => any(m, guard),
        (Transfer::Pack, _) => all(m, guard),
        (Transfer::Select, &[first, second, chooser]) => m
            .thread
            .undefined(chooser)
            .or_else(|| m.thread.undefined(if m.get(chooser) & 1 == 1 { first } else { second })),
        (Transfer::Select, _) => any(m, guard),
        (Transfer::And, _) => {
            if decides(0) {
                None
            } else {
                any(m, guard)
            }
        }
        (Transfer::Or, _) => {
            if decides(1) {
                None
            } else {
                any(m, guard)
            }
        }
        (
            Transfer::Use
            | Transfer::Store
            | Transfer::Publish
            | Transfer::Shuffle
            | Transfer::Call
            | Transfer::Return,
            _,
        ) => None,
    }
}
