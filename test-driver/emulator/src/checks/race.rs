//! The race detector: happens-before order of accesses, by clocks.
//!
//! A simplified FastTrack (Flanagan and Freund, ["FastTrack: Efficient and Precise Dynamic Race
//! Detection"](https://doi.org/10.1145/1542476.1542490)) for the order that PTX defines (PTX ISA, "Memory
//! Consistency Model").
//!
//! Time counts the events that order threads: barriers, warp operations, fences. For every four bytes
//! of memory it remembers the last write and the last two reads, with their times. An access races
//! with one of those if it conflicts and nothing orders them: no barrier of the block since, no warp
//! operation that both took part in, no release by a fence and an atomic that the later one has seen.
//! Where time alone cannot tell which thread released, it assumes the right one did: some races are
//! missed, and what is reported is one.

use crate::launch::Space;
use crate::memory::AccessKind;
use std::collections::HashMap;
use std::sync::Arc;

/// A thread of the grid at an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Party {
    pub(crate) block: u32,
    pub(crate) linear: u32,
    /// PTX line.
    pub(crate) line: u32,
}

impl Party {
    fn is(self, other: Party) -> bool {
        self.block == other.block && self.linear == other.linear
    }
}

/// What a thread knows to have happened before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    /// Everything of the block before this time.
    block: u64,
    /// Everything of these lanes of the warp before this time.
    warp: u64,
    lanes: u32,
    /// Everything of these threads of the block before this time.
    partial: u64,
    partners: Option<Arc<[u64]>>,
    /// Everything before this time, through a release that it acquired.
    acquired: u64,
    /// Its own last fence.
    fence: u64,
}

/// The earlier access of a race.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Earlier {
    pub(crate) party: Party,
    pub(crate) write: bool,
}

#[derive(Clone, Copy, Default)]
struct Record {
    /// 0 for none.
    time: u64,
    party: Party,
    /// Which of the four bytes.
    mask: u8,
    strong: bool,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    write: Record,
    reads: [Record; 2],
    /// Time up to which the last release here orders.
    released: u64,
}

/// The race detector of a launch.
pub(crate) struct Detector {
    time: u64,
    shared: HashMap<u32, Vec<Cell>>,
    pages: HashMap<u64, Vec<Cell>>,
}

const PAGE: u64 = 4096;

/// Pages whose accesses are remembered: a launch that touches more has races that are missed.
const MOST_PAGES: usize = 8192;

impl Detector {
    pub(crate) fn new() -> Detector {
        Detector { time: 1, shared: HashMap::new(), pages: HashMap::new() }
    }

    /// Forgets the shared memory of a block that has ended.
    pub(crate) fn end_block(&mut self, block: u32) {
        self.shared.remove(&block);
    }

    /// An access of up to 16 bytes by a thread; an error is the access it races with.
    pub(crate) fn access(
        &mut self,
        clock: &mut Clock,
        party: Party,
        space: Space,
        address: u64,
        bytes: u32,
        kind: AccessKind,
    ) -> Result<(), Earlier> {
        let mut at = address;
        let end = address + u64::from(bytes);
        while at < end {
            let next = (at / 4 + 1) * 4;
            let length = next.min(end) - at;
            let mask = (((1u32 << length) - 1) << (at % 4)) as u8;
            if kind.is_strong() && kind.writes() && kind.releases() {
                self.fence(clock);
            }
            let record = Record { time: self.time, party, mask, strong: kind.is_strong() };
            let cell = self.cell(space, party.block, at);
            check(cell, clock, record, kind)?;
            update(cell, clock, record, kind);
            at = next;
        }
        Ok(())
    }

    fn cell(&mut self, space: Space, block: u32, address: u64) -> &mut Cell {
        if space == Space::Shared {
            let cells = self.shared.entry(block).or_default();
            let index = (address / 4) as usize;
            if cells.len() <= index {
                cells.resize(index + 1, Cell::default());
            }
            return &mut cells[index];
        }
        if self.pages.len() > MOST_PAGES {
            self.pages.clear();
        }
        let cells = self
            .pages
            .entry(address / PAGE)
            .or_insert_with(|| vec![Cell::default(); PAGE as usize / 4]);
        &mut cells[(address % PAGE / 4) as usize]
    }

    pub(crate) fn fence(&mut self, clock: &mut Clock) {
        self.time += 1;
        clock.fence = self.time;
    }

    /// A barrier that all threads of a block which still run have passed.
    pub(crate) fn block_barrier(&mut self, clocks: &mut [Clock]) {
        self.time += 1;
        let acquired = clocks.iter().map(|clock| clock.acquired).max().unwrap_or(0);
        for clock in clocks {
            clock.block = self.time;
            clock.acquired = acquired;
        }
    }

    /// A barrier of some threads of a block, given by number.
    pub(crate) fn partial_barrier(&mut self, clocks: &mut [Clock], threads: &[usize]) {
        self.time += 1;
        let mut set = vec![0u64; clocks.len().div_ceil(64)];
        threads.iter().for_each(|&thread| set[thread / 64] |= 1 << (thread % 64));
        let set: Arc<[u64]> = set.into();
        let acquired = threads.iter().map(|&thread| clocks[thread].acquired).max().unwrap_or(0);
        for &thread in threads {
            clocks[thread].partial = self.time;
            clocks[thread].partners = Some(Arc::clone(&set));
            clocks[thread].acquired = acquired;
        }
    }

    /// An operation of some lanes of a warp, whose clocks start at `first`.
    pub(crate) fn warp_barrier(&mut self, clocks: &mut [Clock], first: usize, lanes: u32) {
        self.time += 1;
        let members =
            || (0..32usize).filter(|lane| lanes >> lane & 1 == 1).map(|lane| first + lane);
        let acquired = members().map(|thread| clocks[thread].acquired).max().unwrap_or(0);
        for thread in members() {
            clocks[thread].warp = self.time;
            clocks[thread].lanes = lanes;
            clocks[thread].acquired = acquired;
        }
    }

    /// A wait for a memory barrier object that orders everything before now.
    pub(crate) fn acquire_all(&mut self, clock: &mut Clock) {
        self.time += 1;
        clock.acquired = self.time;
    }
}

/// Whether an earlier access is ordered before what a thread does now.
fn is_ordered(clock: &Clock, me: Party, earlier: &Record) -> bool {
    let other = earlier.party;
    if earlier.time == 0 || other.is(me) || earlier.time < clock.acquired {
        return true;
    }
    if other.block != me.block {
        return false;
    }
    let same_warp = other.linear / 32 == me.linear / 32;
    let lane = clock.lanes >> (other.linear % 32) & 1 == 1;
    let partner = clock
        .partners
        .as_ref()
        .is_some_and(|set| set[other.linear as usize / 64] >> (other.linear % 64) & 1 == 1);
    earlier.time < clock.block
        || (same_warp && lane && earlier.time < clock.warp)
        || (partner && earlier.time < clock.partial)
}

fn check(cell: &Cell, clock: &Clock, now: Record, kind: AccessKind) -> Result<(), Earlier> {
    let conflicts = |earlier: &Record| {
        earlier.mask & now.mask != 0
            && !(earlier.strong && now.strong)
            && !is_ordered(clock, now.party, earlier)
    };
    if conflicts(&cell.write) {
        return Err(Earlier { party: cell.write.party, write: true });
    }
    if kind.writes()
        && let Some(read) = cell.reads.iter().find(|read| conflicts(read))
    {
        return Err(Earlier { party: read.party, write: false });
    }
    Ok(())
}

fn update(cell: &mut Cell, clock: &mut Clock, now: Record, kind: AccessKind) {
    if kind.is_strong() && kind.reads() {
        clock.acquired = clock.acquired.max(cell.released);
    }
    if kind.writes() {
        if kind.is_strong() {
            cell.released = cell.released.max(clock.fence);
        }
        // Bytes of a word that one thread writes one after the other are one write: only the last is remembered.
        let earlier = cell.write;
        let is_same = earlier.party.is(now.party) && earlier.time == now.time;
        let mask = if is_same && earlier.strong == now.strong { earlier.mask } else { 0 };
        cell.write = Record { mask: now.mask | mask, ..now };
        // Atomics do not end what plain reads before them conflict with.
        if !now.strong {
            cell.reads = [Record::default(); 2];
        }
    } else {
        if !cell.reads[0].party.is(now.party) {
            cell.reads[1] = cell.reads[0];
        }
        cell.reads[0] = now;
    }
}
