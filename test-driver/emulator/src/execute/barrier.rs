//! Barriers of a block.

use super::block::Party;
use super::grid::Grid;
use super::machine::{Machine, Stop};
use super::thread::{BarrierWait, Reduction, Thread, Wait};
use crate::fault::{Fault, FaultKind};
use crate::program::Instruction;

/// Marks an operand that is not there.
const NONE: u32 = u32::MAX;

/// `bar.sync`, `barrier.sync`, `barrier.red`: barrier `a`, thread count `b`, predicate `c`, result `d`.
/// `x` bit 0: aligned; bits 1 and 2: the reduction.
pub(crate) fn synchronise(m: &mut Machine<'_>, i: &Instruction, _: u32) -> u32 {
    let Some((barrier, count)) = operands(m, i) else { return crate::program::STOP };
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
    let Some((barrier, _)) = operands(m, i) else { return crate::program::STOP };
    m.block.arrived[barrier as usize].push(m.thread.linear as usize);
    pc + 1
}

fn operands(m: &mut Machine<'_>, i: &Instruction) -> Option<(u32, Option<u32>)> {
    let barrier = m.get(i.a) as u32;
    let count = if i.b == NONE { None } else { Some(m.get(i.b) as u32) };
    let reason = if barrier >= 16 {
        format!("there is no barrier {barrier}")
    } else if count.is_some_and(|count| count == 0 || count % 32 != 0) {
        format!("{} threads at a barrier, must be a multiple of 32", count.unwrap_or(0))
    } else {
        return Some((barrier, count));
    };
    m.fail(FaultKind::InvalidOperand { reason });
    None
}

/// Opens the barriers at which enough threads wait.
pub(super) fn complete(party: &mut Party, grid: &Grid<'_>) -> Result<bool, Fault> {
    let mut any = false;
    for barrier in 0..16 {
        let waiting: Vec<usize> = (0..party.threads.len())
            .filter(|&thread| wait_of(&party.threads[thread], barrier).is_some())
            .collect();
        let Some(&first) = waiting.first() else { continue };
        let arrived = party.block.arrived[barrier as usize].len();
        let wait = wait_of(&party.threads[first], barrier);
        let wanted = wait.and_then(|wait| wait.count).map_or_else(
            || party.threads.iter().filter(|thread| !thread.has_ended()).count(),
            |count| expected(party, count as usize),
        );
        if waiting.len() + arrived >= wanted {
            open(party, grid, barrier, &waiting)?;
            any = true;
        }
    }
    Ok(any)
}

/// A count includes the lanes that the block's last warp lacks.
fn expected(party: &Party, count: usize) -> usize {
    let threads = party.threads.len();
    if count >= threads.next_multiple_of(32) { threads } else { count }
}

fn wait_of(thread: &Thread, number: u32) -> Option<BarrierWait> {
    match thread.wait {
        Wait::Barrier(wait) if wait.barrier == number => Some(wait),
        _ => None,
    }
}

fn open(party: &mut Party, grid: &Grid<'_>, barrier: u32, waiting: &[usize]) -> Result<(), Fault> {
    check_alignment(party, grid, barrier, waiting)?;
    let votes = || waiting.iter().filter_map(|&thread| wait_of(&party.threads[thread], barrier));
    let count = votes().filter(|wait| wait.vote).count();
    let total = votes().count();
    order(party, barrier, waiting);
    for &thread in waiting {
        let thread = &mut party.threads[thread];
        if let Some((slot, reduction)) = wait_of(thread, barrier).and_then(|wait| wait.reduction) {
            thread.registers[slot as usize] = match reduction {
                Reduction::Count => count as u64,
                Reduction::All => u64::from(count == total),
                Reduction::Any => u64::from(count > 0),
            };
        }
        thread.wait = Wait::Ready;
        thread.pc += 1;
    }
    Ok(())
}

/// Tells the race detector whom the barrier orders.
fn order(party: &mut Party, barrier: u32, waiting: &[usize]) {
    let arrived = std::mem::take(&mut party.block.arrived[barrier as usize]);
    let running = party.threads.iter().filter(|thread| !thread.has_ended()).count();
    let block = &mut party.block;
    let Some(detector) = &mut block.observer else { return };
    if waiting.len() == running && arrived.is_empty() {
        detector.block_barrier(&mut block.clocks);
    } else {
        let members: Vec<usize> = waiting.iter().copied().chain(arrived).collect();
        detector.partial_barrier(&mut block.clocks, &members);
    }
}

/// With `.aligned`, all threads of a warp must have come to the same instruction.
fn check_alignment(
    party: &Party,
    grid: &Grid<'_>,
    barrier: u32,
    waiting: &[usize],
) -> Result<(), Fault> {
    for pair in waiting.windows(2) {
        let (first, second) = (&party.threads[pair[0]], &party.threads[pair[1]]);
        let aligned = wait_of(second, barrier).is_some_and(|wait| wait.aligned);
        let same = first.pc == second.pc && first.function == second.function;
        if aligned && !same && first.warp() == second.warp() {
            let line = |thread: &Thread| {
                let function = &grid.program.functions[thread.function as usize];
                function.origins[thread.pc as usize].line
            };
            let kind = FaultKind::DivergentBarrier { barrier, lines: [line(first), line(second)] };
            return Err(second.fault(grid, party.block.index, kind));
        }
    }
    Ok(())
}
