//! Handlers of `bar` and `barrier`.
//!
//! PTX ISA, "bar{.cta}, barrier{.cta}".

use crate::execute::machine::{Instruction, Machine, STOP, Stop};
use crate::execute::state::{BarrierWait, Reduction, Wait};
use crate::launch::FaultKind;

/// Marks an operand that is not there.
const NONE: u32 = u32::MAX;

/// `bar.sync`, `barrier.sync`, `barrier.red`: barrier `a`, thread count `b`, predicate `c`, result `d`.
/// `x` bit 0: aligned; bits 1 and 2: the reduction.
pub(crate) fn synchronise(m: &mut Machine<'_>, i: &Instruction, _: u32) -> u32 {
    let Some((barrier, count)) = operands(m, i) else { return STOP };
    let reduction = match i.x >> 1 & 3 {
        0 => None,
        1 => Some((i.d, Reduction::Count)),
        2 => Some((i.d, Reduction::All)),
        _ => Some((i.d, Reduction::Any)),
    };
    let vote = i.c != NONE && m.get(i.c) & 1 == 1;
    let aligned = i.x & 1 == 1;
    m.thread.wait = Wait::Barrier(BarrierWait { barrier, count, aligned, reduction, vote });
    m.stop(Stop::Wait)
}

/// `bar.arrive`: barrier `a`, thread count `b`.
pub(crate) fn arrive(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let Some((barrier, count)) = operands(m, i) else { return STOP };
    let arrivals = &mut m.block.arrived[barrier as usize];
    arrivals.wanted = count.unwrap_or(u32::MAX);
    // More would be of the next phase, which nobody can wait for before this one has ended.
    if arrivals.threads.len() < arrivals.wanted as usize {
        arrivals.threads.push(m.thread.linear as usize);
    }
    pc + 1
}

fn operands(m: &mut Machine<'_>, i: &Instruction) -> Option<(u32, Option<u32>)> {
    let barrier = m.get(i.a) as u32;
    let count = if i.b == NONE { None } else { Some(m.get(i.b) as u32) };
    let reason = if barrier >= 16 {
        format!("there is no barrier {barrier}: barriers are 0 to 15")
    } else if count.is_some_and(|count| count == 0 || count % 32 != 0) {
        format!(
            "a barrier for {} threads, whose number must be a multiple of 32 above 0",
            count.unwrap_or(0)
        )
    } else {
        return Some((barrier, count));
    };
    m.fail(FaultKind::InvalidOperand { reason });
    None
}
