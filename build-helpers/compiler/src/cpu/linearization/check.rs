//! The check of a linearised function: wherever control can come to, the same threads are absent, however it came
//! there; no thread ends and none waits at a barrier of the block while others are absent.
//!
//! It takes nothing for granted that the search or the transformation did before.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::ir::{Block, Builder, ModuleExt, Opcode, Type, Value};

use super::{
    absences::{Absences, next, numbers},
    candidate::names_all,
};
use crate::{
    LinearizationRefusal,
    cpu::{
        instructions::writes_panic,
        operation::{ALL_LANES, Operation, operations},
    },
    passes::entry::Unit,
};

/// The innermost absence at the start of each block that control can come to.
type States<'c> = HashMap<Block<'c>, usize>;

/// Checks a function.
pub(in crate::cpu) fn check<'c>(
    function: Value<'c>,
    absences: &Absences<'c>,
) -> Result<(), LinearizationRefusal> {
    states(function, absences).map(|_| ()).ok_or(LinearizationRefusal::Irregular)
}

/// Marks the warp collectives whose masks may name absent lanes that may still come to other collectives.
pub(in crate::cpu) fn mark_lanes<'c>(
    unit: &Unit<'_, 'c>,
    function: Value<'c>,
    absences: &Absences<'c>,
) {
    let Some(states) = states(function, absences) else { unreachable!("it has been checked") };
    let ends: HashMap<_, _> = ends(function).into_iter().collect();
    let waits_later: HashSet<_> =
        ends.iter().filter(|(_, end)| comes_to_wait(**end)).map(|(number, _)| *number).collect();
    let mut marked = Vec::new();
    for (&block, &state) in &states {
        walk(block, state, absences, &mut |call, what, state| {
            let mut around = absences.from(state);
            if names_all(call, what) && around.any(|number| waits_later.contains(&number)) {
                marked.push(call);
            }
        });
    }
    let mark = Type::void(unit.context).function(&[]);
    let builder = Builder::new(unit.context);
    for call in marked {
        builder.before(call);
        builder.call(unit.module.declare(ALL_LANES, mark), &[]);
    }
}

/// The barriers at which absences end, by number.
fn ends<'c>(function: Value<'c>) -> Vec<(usize, Value<'c>)> {
    let barriers = operations(function).into_iter();
    let barriers = barriers.filter(|(_, what)| *what == Operation::AbsenceBarrier);
    barriers.map(|(call, _)| (numbers(call)[0], call)).filter(|(number, _)| *number != 0).collect()
}

/// Whether a thread can come from a call to a barrier or warp collective that the kernel has itself.
fn comes_to_wait(call: Value<'_>) -> bool {
    let is_wait = |it: Value<'_>| {
        it.opcode() == Opcode::Call
            && matches!(Operation::of_call(it), Some(Operation::Barrier | Operation::Warp(_)))
    };
    let mut after = std::iter::successors(call.next_instruction(), |it| it.next_instruction());
    if after.any(is_wait) {
        return true;
    }
    let mut seen = HashSet::new();
    let mut work = next(call.block());
    while let Some(block) = work.pop() {
        if seen.insert(block) {
            if block.instructions().into_iter().any(is_wait) {
                return true;
            }
            work.extend(next(block));
        }
    }
    false
}

/// The states of all blocks; `None` where the function is wrong.
fn states<'c>(function: Value<'c>, absences: &Absences<'c>) -> Option<States<'c>> {
    let mut places: HashMap<usize, Block<'c>> = HashMap::new();
    for (number, call) in ends(function) {
        // Nothing else waits in that block before.
        let first = operations_of(call.block()).into_iter().find(|(_, what)| what.waits())?;
        let is_alone = first.0 == call && places.insert(number, call.block()).is_none();
        is_alone.then_some(())?;
    }
    let entry = *function.blocks().first()?;
    let mut states: States<'c> = HashMap::from([(entry, 0)]);
    let mut work = vec![entry];
    while let Some(block) = work.pop() {
        let mut state = states[&block];
        let mut to = Vec::new();
        for (call, what) in operations_of(block) {
            match what {
                Operation::Barrier if state != 0 => return None,
                Operation::AbsenceBarrier => {
                    state = pass(absences, state, numbers(call))?;
                    let [_, other] = numbers(call);
                    if other != 0 {
                        to.push((*places.get(&other)?, other));
                    }
                }
                Operation::ExitBarrier => {
                    let [returning, other] = numbers(call);
                    (returning == 0 && absences.is_within(other, state)).then_some(())?;
                    if other != 0 {
                        to.push((*places.get(&other)?, other));
                    }
                }
                _ => {}
            }
        }
        let end = block.terminator()?;
        if end.opcode() == Opcode::Ret && state != 0 && !writes_panic(block) {
            return None;
        }
        to.extend(next(block).into_iter().map(|next| (next, state)));
        for (next, state) in to {
            let merged = match states.get(&next) {
                None => state,
                Some(&old) if absences.is_within(old, state) => old,
                Some(&old) if absences.is_within(state, old) => state,
                Some(_) => return None,
            };
            if states.insert(next, merged) != Some(merged) {
                work.push(next);
            }
        }
    }
    Some(states)
}

/// The innermost absence after a barrier with these numbers; `None` where the barrier is wrong there.
fn pass(absences: &Absences<'_>, state: usize, [returning, other]: [usize; 2]) -> Option<usize> {
    let after = match returning {
        0 => state,
        // Where none has become absent with the number yet, none is present again.
        _ if absences.is_within(returning, state) => absences.outer[returning],
        _ => return None,
    };
    absences.is_within(other, after).then_some(other)
}

/// Goes over the operations of a block with the innermost absence at each.
fn walk<'c>(
    block: Block<'c>,
    mut state: usize,
    absences: &Absences<'c>,
    see: &mut dyn FnMut(Value<'c>, Operation, usize),
) {
    for (call, what) in operations_of(block) {
        see(call, what, state);
        if what == Operation::AbsenceBarrier {
            state = pass(absences, state, numbers(call)).expect("it has been checked");
        }
    }
}

fn operations_of<'c>(block: Block<'c>) -> Vec<(Value<'c>, Operation)> {
    let calls = block.instructions().into_iter().filter(|it| it.opcode() == Opcode::Call);
    calls.filter_map(|call| Some((call, Operation::of_call(call)?))).collect()
}
