//! The grid of a launch: what stays the same for all its blocks.

use crate::checks::Party;
use crate::launch::{Access, FaultKind, Options};
use crate::memory::Store;
use crate::program::Program;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Everything that stays the same during a launch.
pub(crate) struct Grid<'a> {
    pub(crate) program: &'a Program,
    /// The number of the launch on its device, from 1 on.
    pub(crate) number: u64,
    /// Slots of each function that the kernel reaches, when it is entered.
    pub(crate) templates: Vec<Vec<u64>>,
    pub(crate) entry: usize,
    pub(crate) parameters: Vec<u8>,
    pub(crate) store: &'a Store,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
    pub(crate) dynamic_shared_bytes: u32,
    pub(crate) multiprocessors: u32,
    pub(crate) cooperative: bool,
    /// Device address of a cooperative launch's workspace.
    pub(crate) workspace: u64,
    /// The launches of the device that run now, this one among them.
    pub(crate) running: &'a AtomicUsize,
    pub(crate) options: &'a Options,
    pub(crate) used: AtomicU64,
}

impl Grid<'_> {
    /// Takes instructions off the budget.
    pub(crate) fn charge(&self, steps: u64) -> Result<(), FaultKind> {
        let Some(budget) = self.options.step_budget else { return Ok(()) };
        let used = self.used.fetch_add(steps, Ordering::Relaxed) + steps;
        if used > budget { Err(FaultKind::StepBudget { budget }) } else { Ok(()) }
    }

    /// Whether no other launch runs that could change the memory of this one.
    pub(crate) fn is_alone(&self) -> bool {
        self.running.load(Ordering::Relaxed) == 1
    }

    /// A thread's access for a message.
    pub(crate) fn access(&self, party: Party, write: bool) -> Access {
        let split = |number: u32, [x, y, _]: [u32; 3]| [number % x, number / x % y, number / x / y];
        Access {
            block: split(party.block, self.grid),
            thread: split(party.linear, self.block),
            line: party.line,
            write,
        }
    }
}
