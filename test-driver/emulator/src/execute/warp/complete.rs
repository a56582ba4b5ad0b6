//! Completion of warp collectives: performed when all lanes of the mask have come.
//!
//! PTX ISA, "bar.warp.sync": lanes that take part are named by a mask, whatever path they have come.

use super::lanes::Lanes;
use super::{collective, mma, wgmma, wmma};
use crate::execute::state::{Block, Grid, Thread, Wait};
use crate::launch::{Fault, FaultKind};
use crate::program::Collective;

/// Completes the operations of a warp for which all lanes have come.
pub(crate) fn complete(
    block: &mut Block,
    threads: &mut [Thread],
    grid: &Grid<'_>,
    warp: usize,
) -> Result<bool, Fault> {
    let end = threads.len().min(warp * 32 + 32);
    let first = warp * 32;
    let mut any = false;
    for lane in 0..end - first {
        let warp = &mut threads[first..end];
        let Some(members) = members(grid, warp, lane) else { continue };
        let operation = operation_of(grid, &warp[lane]).clone();
        let result =
            perform(Lanes { threads: warp, members }, block, &operation, grid.options.poison);
        if let Err((lane, kind)) = result {
            return Err(threads[first + lane].fault(grid, block.index, kind));
        }
        if let Some(detector) = &mut block.observer {
            detector.warp_barrier(&mut block.clocks, first, members);
        }
        for lane in (0..32).filter(|lane| members >> lane & 1 == 1) {
            let thread = &mut threads[first + lane];
            thread.wait = Wait::Ready;
            thread.pc += 1;
        }
        any = true;
    }
    Ok(any)
}

fn operation_of<'a>(grid: &Grid<'a>, thread: &Thread) -> &'a Collective {
    let function = &grid.program.functions[thread.function as usize];
    match thread.wait {
        Wait::Warp { operation, .. } => &function.tables.collectives[operation as usize],
        _ => &Collective::Barrier,
    }
}

/// The lanes that perform an operation with `lane`, if all that should have come.
fn members(grid: &Grid<'_>, threads: &[Thread], lane: usize) -> Option<u32> {
    let Wait::Warp { mask, .. } = threads[lane].wait else { return None };
    let operation = operation_of(grid, &threads[lane]);
    if matches!(operation, Collective::ActiveMask { .. }) {
        return active(threads, lane);
    }
    let mut members = 0;
    for (other, thread) in threads.iter().enumerate() {
        if mask >> other & 1 == 0 || thread.has_ended() {
            continue;
        }
        if !joins(grid, &threads[lane], thread) {
            return None;
        }
        members |= 1 << other;
    }
    Some(members)
}

fn joins(grid: &Grid<'_>, one: &Thread, other: &Thread) -> bool {
    let (Wait::Warp { mask, .. }, Wait::Warp { mask: theirs, .. }) = (one.wait, other.wait) else {
        return false;
    };
    let same = one.pc == other.pc && one.function == other.function;
    let barrier = |thread| matches!(operation_of(grid, thread), Collective::Barrier);
    mask == theirs && (same || (barrier(one) && barrier(other)))
}

/// The lanes at the same `activemask`, once no lane of the warp can run.
fn active(threads: &[Thread], lane: usize) -> Option<u32> {
    if threads.iter().any(Thread::is_ready) {
        return None;
    }
    let together = |thread: &Thread| {
        let one = &threads[lane];
        matches!(thread.wait, Wait::Warp { .. })
            && thread.pc == one.pc
            && thread.function == one.function
    };
    let mask =
        threads.iter().enumerate().map(|(other, thread)| u32::from(together(thread)) << other);
    Some(mask.sum())
}

/// Whether an operation is one of all lanes of a warp: it is undefined where some have ended or never were.
fn needs_whole_warp(operation: &Collective) -> bool {
    matches!(
        operation,
        Collective::Multiply(_)
            | Collective::Fragments(_)
            | Collective::Warpgroup(_)
            | Collective::LoadMatrix(_)
    )
}

fn perform(
    mut lanes: Lanes<'_>,
    block: &mut Block,
    operation: &Collective,
    poison: bool,
) -> Result<(), (usize, FaultKind)> {
    let members = lanes.members;
    let mask = u64::from(members);
    if needs_whole_warp(operation) && members != u32::MAX {
        let kind = FaultKind::MissingLanes { mask: u32::MAX, missing: !members };
        return Err((members.trailing_zeros() as usize, kind));
    }
    match *operation {
        Collective::Barrier => {}
        Collective::ActiveMask { d } => lanes.set_all(d, mask),
        Collective::Elect { d, p } => {
            let leader = members.trailing_zeros() as usize;
            lanes.set_all(d, leader as u64);
            lanes.set_all(p, 0);
            lanes.set(leader, p, 1);
        }
        Collective::Shuffle(ref shuffle) => collective::shuffle(&mut lanes, shuffle, poison),
        Collective::Vote { mode, d, a } => collective::vote(&mut lanes, mode, d, a),
        Collective::MatchAny { d, a, width } => collective::match_any(&mut lanes, d, a, width),
        Collective::MatchAll { d, p, a, width } => {
            collective::match_all(&mut lanes, d, p, a, width)
        }
        Collective::Reduce { d, a, combine } => {
            let values = lanes.each().map(|lane| lanes.get(lane, a) & 0xffff_ffff);
            let result = values.reduce(combine).unwrap_or(0);
            lanes.set_all(d, result & 0xffff_ffff);
        }
        Collective::Multiply(ref multiply) => mma::multiply(&mut lanes, multiply),
        Collective::Fragments(ref multiply) => wmma::multiply(&mut lanes, multiply),
        Collective::Warpgroup(ref multiply) => return wgmma::multiply(&mut lanes, block, multiply),
        Collective::LoadMatrix(ref load) => return mma::load(&mut lanes, block, load),
    }
    Ok(())
}

/// The fault of a block that is stuck because lanes of a mask never came.
pub(crate) fn missing(block: &Block, threads: &[Thread], grid: &Grid<'_>) -> Option<Fault> {
    let waits = |thread: &&Thread| matches!(thread.wait, Wait::Warp { .. });
    let thread = threads.iter().find(waits)?;
    let Wait::Warp { mask, .. } = thread.wait else { return None };
    let start = (thread.warp() * 32) as usize;
    let end = threads.len().min(start + 32);
    let lanes = threads[start..end].iter().enumerate();
    let absent = lanes.filter(|(_, other)| !other.has_ended() && !joins(grid, thread, other));
    let missing = mask & absent.map(|(lane, _)| 1 << lane).sum::<u32>();
    Some(thread.fault(grid, block.index, FaultKind::MissingLanes { mask, missing }))
}
