//! What the checks of a launch see of memory accesses.

use crate::checks::Party;
use crate::execute::machine::Machine;
use crate::launch::{FaultKind, Space};
use crate::memory::AccessKind;
use std::ops::Range;

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
        kind: AccessKind,
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
