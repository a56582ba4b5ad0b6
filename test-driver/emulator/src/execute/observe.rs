//! What the checks of a launch see of memory accesses.

use super::machine::Machine;
use crate::fault::{FaultKind, Space};
use crate::races::Thread as Party;
use std::ops::Range;

/// How an access takes part in the memory model, in a word of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind(pub(crate) u32);

impl Kind {
    pub(crate) const READ: Kind = Kind(0);
    pub(crate) const WRITE: Kind = Kind(1);
    /// A read-modify-write.
    pub(crate) const ATOMIC: Kind = Kind(Self::WRITES | Self::STRONG | Self::READS_TOO);
    pub(crate) const WRITES: u32 = 1;
    /// `.volatile`, `.relaxed` or stronger: does not race with others of its kind.
    pub(crate) const STRONG: u32 = 2;
    /// `.release`: orders what came before, like a fence.
    pub(crate) const RELEASE: u32 = 4;
    pub(crate) const READS_TOO: u32 = 8;

    pub(crate) fn writes(self) -> bool {
        self.0 & Self::WRITES != 0
    }

    pub(crate) fn is_strong(self) -> bool {
        self.0 & Self::STRONG != 0
    }

    pub(crate) fn releases(self) -> bool {
        self.0 & Self::RELEASE != 0
    }

    pub(crate) fn reads(self) -> bool {
        !self.writes() || self.0 & Self::READS_TOO != 0
    }
}

impl Machine<'_> {
    fn party(&self, pc: u32) -> Party {
        let line = self.function.origins.get(pc as usize).map_or(0, |origin| origin.line);
        Party { block: self.block.number, linear: self.thread.linear, line }
    }

    /// Tells the race detector of an access; `None` when it is a race.
    pub(crate) fn observe(
        &mut self,
        space: Space,
        pc: u32,
        address: u64,
        bytes: u32,
        kind: Kind,
    ) -> Option<()> {
        let party = self.party(pc);
        let block = &mut *self.block;
        let Some(detector) = &mut block.observer else { return Some(()) };
        let clock = &mut block.clocks[party.linear as usize];
        let Err(other) = detector.access(clock, party, space, address, bytes, kind) else {
            return Some(());
        };
        let access = self.grid.access(other.party, other.write);
        self.fail(FaultKind::Race { space, address, write: kind.writes(), other: access });
        None
    }

    /// A fence by the running thread.
    pub(crate) fn observe_fence(&mut self) {
        let linear = self.thread.linear as usize;
        if let Some(detector) = &mut self.block.observer {
            detector.fence(&mut self.block.clocks[linear]);
        }
    }

    /// Faults if a byte of shared memory was never written.
    pub(crate) fn check_shared_written(&mut self, address: u64, range: Range<usize>) -> Option<()> {
        let bytes = range.len() as u32;
        let written = &self.block.shared_written;
        if written.is_empty() || written[range].iter().all(|&written| written) {
            return Some(());
        }
        self.fail(FaultKind::UninitializedShared { address, bytes });
        None
    }
}
