//! Checks of registers that may be read before they are written.

use crate::execute::machine::{Instruction, Machine, STOP, Transfer};
use crate::launch::FaultKind;

/// Checks the operands of an instruction, runs it, and notes what it wrote.
pub(crate) fn guarded(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let function = m.function;
    // Guarded code has one guard for each instruction; unwatched ones have empty lists.
    let guard = &m.guards[pc as usize];
    let unwritten = |m: &Machine<'_>, slot: u32| {
        function.names.contains_key(&slot) && !m.thread.written[slot as usize]
    };
    let first = guard.uses.iter().copied().find(|&slot| unwritten(m, slot));
    if let Some(slot) = first
        && guard.transfer == Transfer::Compute
    {
        let register = function.names[&slot].clone();
        return m.fail(FaultKind::UninitializedRegister { register });
    }
    let written = guard.transfer != Transfer::Copy
        || guard.uses.is_empty()
        || guard.uses.iter().any(|&slot| !unwritten(m, slot));
    for &slot in &guard.defines {
        m.thread.written[slot as usize] = written;
    }
    let next = (guard.run)(m, i, pc);
    debug_assert!(next == STOP || (next as usize) < function.origins.len());
    next
}
