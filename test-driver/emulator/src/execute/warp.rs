//! Operations of the lanes of a warp.

use super::block::Party;
use super::fragment::{self, FragmentMultiply};
use super::grid::Grid;
use super::group::{self, GroupMultiply};
use super::machine::{Machine, Stop};
use super::matrix::{self, LoadMatrix, Multiply};
use super::thread::{Thread, Wait};
use crate::fault::{Fault, FaultKind};
use crate::program::{Instruction, STOP};

/// Which lane `shfl.sync` reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// What `vote.sync` gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// A warp operation; its fields are slots unless they say otherwise.
#[derive(Clone, Debug)]
pub(crate) enum WarpOperation {
    /// `bar.warp.sync`
    Barrier,
    /// `activemask`
    ActiveMask {
        d: u32,
    },
    /// `elect.sync`
    Elect {
        d: u32,
        p: u32,
    },
    Shuffle {
        mode: Shuffle,
        d: u32,
        p: u32,
        a: u32,
        b: u32,
        c: u32,
    },
    Vote {
        mode: Vote,
        d: u32,
        a: u32,
    },
    /// `match.any.sync` of values of `width` bits.
    MatchAny {
        d: u32,
        a: u32,
        width: u32,
    },
    MatchAll {
        d: u32,
        p: u32,
        a: u32,
        width: u32,
    },
    /// `redux.sync`
    Reduce {
        d: u32,
        a: u32,
        combine: fn(u64, u64) -> u64,
    },
    Multiply(Box<Multiply>),
    LoadMatrix(Box<LoadMatrix>),
    /// `wmma.mma`
    Fragments(Box<FragmentMultiply>),
    /// `wgmma.mma_async`
    Group(Box<GroupMultiply>),
}

/// Waits for the lanes in slot `a` for operation `x`.
pub(crate) fn wait(m: &mut Machine<'_>, i: &Instruction, _: u32) -> u32 {
    let mask = m.get(i.a) as u32;
    let lane = m.thread.lane();
    if mask >> lane & 1 == 0 {
        m.fail(FaultKind::MissingLanes { mask, missing: 1 << lane });
        return STOP;
    }
    m.thread.wait = Wait::Warp { operation: i.x, mask };
    m.stop(Stop::Wait)
}

/// The lanes of a warp that wait for one operation together.
pub(super) struct Lanes<'a> {
    pub(super) threads: &'a mut [Thread],
    pub(super) members: u32,
}

impl Lanes<'_> {
    pub(super) fn get(&self, lane: usize, slot: u32) -> u64 {
        self.threads[lane].registers[slot as usize]
    }

    pub(super) fn set(&mut self, lane: usize, slot: u32, value: u64) {
        self.threads[lane].registers[slot as usize] = value;
    }

    pub(super) fn each(&self) -> impl Iterator<Item = usize> + use<> {
        let members = self.members;
        (0..32).filter(move |lane| members >> lane & 1 == 1)
    }

    fn set_all(&mut self, slot: u32, value: u64) {
        self.each().for_each(|lane| self.set(lane, slot, value));
    }
}

/// Completes the operations of a warp for which all lanes have come.
pub(super) fn complete(party: &mut Party, grid: &Grid<'_>, warp: usize) -> Result<bool, Fault> {
    let end = party.threads.len().min(warp * 32 + 32);
    let first = warp * 32;
    let mut any = false;
    for lane in 0..end - first {
        let threads = &mut party.threads[first..end];
        let Some(members) = members(grid, threads, lane) else { continue };
        let operation = operation_of(grid, &threads[lane]).clone();
        let lanes = Lanes { threads, members };
        let result = perform(lanes, &mut party.block, &operation, members);
        if let Err((lane, kind)) = result {
            return Err(party.threads[first + lane].fault(grid, party.block.index, kind));
        }
        let block = &mut party.block;
        if let Some(detector) = &mut block.observer {
            detector.warp_barrier(&mut block.clocks, first, members);
        }
        for lane in (0..32).filter(|lane| members >> lane & 1 == 1) {
            let thread = &mut party.threads[first + lane];
            thread.wait = Wait::Ready;
            thread.pc += 1;
        }
        any = true;
    }
    Ok(any)
}

fn operation_of<'a>(grid: &Grid<'a>, thread: &Thread) -> &'a WarpOperation {
    let function = &grid.program.functions[thread.function as usize];
    match thread.wait {
        Wait::Warp { operation, .. } => &function.warps[operation as usize],
        _ => &WarpOperation::Barrier,
    }
}

/// The lanes that perform an operation with `lane`, if all that should have come.
fn members(grid: &Grid<'_>, threads: &[Thread], lane: usize) -> Option<u32> {
    let Wait::Warp { mask, .. } = threads[lane].wait else { return None };
    let operation = operation_of(grid, &threads[lane]);
    if matches!(operation, WarpOperation::ActiveMask { .. }) {
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
    let barrier = |thread| matches!(operation_of(grid, thread), WarpOperation::Barrier);
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

fn perform(
    mut lanes: Lanes<'_>,
    block: &mut super::block::Block,
    operation: &WarpOperation,
    members: u32,
) -> Result<(), (usize, FaultKind)> {
    let mask = u64::from(members);
    match *operation {
        WarpOperation::Barrier => {}
        WarpOperation::ActiveMask { d } => lanes.set_all(d, mask),
        WarpOperation::Elect { d, p } => {
            let leader = members.trailing_zeros() as usize;
            lanes.set_all(d, leader as u64);
            lanes.set_all(p, 0);
            lanes.set(leader, p, 1);
        }
        WarpOperation::Shuffle { mode, d, p, a, b, c } => {
            shuffle(&mut lanes, mode, [d, p, a, b, c])
        }
        WarpOperation::Vote { mode, d, a } => vote(&mut lanes, mode, d, a),
        WarpOperation::MatchAny { d, a, width } => match_any(&mut lanes, d, a, width),
        WarpOperation::MatchAll { d, p, a, width } => match_all(&mut lanes, d, p, a, width),
        WarpOperation::Reduce { d, a, combine } => {
            let values = lanes.each().map(|lane| lanes.get(lane, a) & 0xffff_ffff);
            let result = values.reduce(combine).unwrap_or(0);
            lanes.set_all(d, result & 0xffff_ffff);
        }
        WarpOperation::Multiply(ref multiply) => matrix::multiply(&mut lanes, multiply),
        WarpOperation::Fragments(ref multiply) => fragment::multiply(&mut lanes, multiply),
        WarpOperation::Group(ref multiply) => return group::multiply(&mut lanes, block, multiply),
        WarpOperation::LoadMatrix(ref load) => return matrix::load(&mut lanes, block, load),
    }
    Ok(())
}

/// The lane that `lane` reads, and whether it lies in the segment.
fn source(mode: Shuffle, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (segment, clamp) = (c >> 8 & 31, c & 31);
    let highest = (lane & segment) | (clamp & !segment);
    let lowest = lane & segment;
    let b = b & 31;
    let (from, inside) = match mode {
        Shuffle::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= highest as i32),
        Shuffle::Down => (lane + b, lane + b <= highest),
        Shuffle::Butterfly => (lane ^ b, lane ^ b <= highest),
        Shuffle::Index => (lowest | (b & !segment), lowest | (b & !segment) <= highest),
    };
    if inside { (from, true) } else { (lane, false) }
}

fn shuffle(lanes: &mut Lanes<'_>, mode: Shuffle, [d, p, a, b, c]: [u32; 5]) {
    let mut values = [0; 32];
    for lane in lanes.each() {
        values[lane] = lanes.get(lane, a) & 0xffff_ffff;
    }
    for lane in lanes.each() {
        let (operand, control) = (lanes.get(lane, b) as u32, lanes.get(lane, c) as u32);
        let (from, inside) = source(mode, lane as u32, operand, control);
        // Reading a lane that does not take part is undefined; here it gives the own value.
        let from = if lanes.members >> from & 1 == 1 { from as usize } else { lane };
        lanes.set(lane, d, values[from]);
        lanes.set(lane, p, u64::from(inside));
    }
}

fn vote(lanes: &mut Lanes<'_>, mode: Vote, d: u32, a: u32) {
    let yes = lanes.each().filter(|&lane| lanes.get(lane, a) & 1 == 1);
    let ballot: u32 = yes.map(|lane| 1 << lane).sum();
    let value = match mode {
        Vote::All => u64::from(ballot == lanes.members),
        Vote::Any => u64::from(ballot != 0),
        Vote::Uniform => u64::from(ballot == 0 || ballot == lanes.members),
        Vote::Ballot => u64::from(ballot),
    };
    lanes.set_all(d, value);
}

fn match_any(lanes: &mut Lanes<'_>, d: u32, a: u32, width: u32) {
    let value = |lanes: &Lanes<'_>, lane| lanes.get(lane, a) & (u64::MAX >> (64 - width));
    let mut results = [0u64; 32];
    for lane in lanes.each() {
        let own = value(lanes, lane);
        let same = lanes.each().filter(|&other| value(lanes, other) == own);
        results[lane] = same.map(|other| 1 << other).sum();
    }
    lanes.each().for_each(|lane| lanes.set(lane, d, results[lane]));
}

fn match_all(lanes: &mut Lanes<'_>, d: u32, p: u32, a: u32, width: u32) {
    let value = |lane| lanes.get(lane, a) & (u64::MAX >> (64 - width));
    let first = value(lanes.members.trailing_zeros() as usize);
    let all = lanes.each().all(|lane| value(lane) == first);
    let mask = u64::from(lanes.members);
    lanes.set_all(d, if all { mask } else { 0 });
    lanes.set_all(p, u64::from(all));
}

/// The fault of a block that is stuck because lanes of a mask never came.
pub(super) fn missing(party: &Party, grid: &Grid<'_>) -> Option<Fault> {
    let waits = |thread: &&Thread| matches!(thread.wait, Wait::Warp { .. });
    let thread = party.threads.iter().find(waits)?;
    let Wait::Warp { mask, .. } = thread.wait else { return None };
    let start = (thread.warp() * 32) as usize;
    let end = party.threads.len().min(start + 32);
    let lanes = party.threads[start..end].iter().enumerate();
    let absent = lanes.filter(|(_, other)| !other.has_ended() && !joins(grid, thread, other));
    let missing = mask & absent.map(|(lane, _)| 1 << lane).sum::<u32>();
    Some(thread.fault(grid, party.block.index, FaultKind::MissingLanes { mask, missing }))
}
