//! What a handler sees: the running thread and everything around it.

use super::block::Block;
use super::grid::Grid;
use super::thread::Thread;
use crate::fault::FaultKind;
use crate::memory::Window;
use crate::program::{Function, STOP};

/// Why a handler stopped its thread.
#[derive(Debug, Default)]
pub(crate) enum Stop {
    /// The thread entered or left a function; it goes on there.
    #[default]
    Switch,
    /// The thread waits; `Thread::wait` says for what.
    Wait,
    /// The thread lets others go first and goes on after this instruction.
    Pause,
    /// The thread has ended.
    End,
    /// The thread did something wrong.
    Fault(Box<FaultKind>),
}

/// The running thread with its registers at hand.
pub(crate) struct Machine<'a> {
    /// Slots of the current function.
    pub(crate) registers: Vec<u64>,
    /// Per instruction of the current function: where its last access to device memory went.
    pub(crate) windows: Vec<Window>,
    pub(crate) thread: &'a mut Thread,
    pub(crate) block: &'a mut Block,
    pub(crate) grid: &'a Grid<'a>,
    pub(crate) function: &'a Function,
    /// Instructions that the worker has run before this resumption.
    pub(crate) clock: u64,
    pub(crate) stop: Stop,
}

impl Machine<'_> {
    #[inline(always)]
    pub(crate) fn get(&self, slot: u32) -> u64 {
        self.registers[slot as usize]
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, slot: u32, value: u64) {
        self.registers[slot as usize] = value;
    }

    /// The address in a slot, and bytes that are added to it.
    #[inline(always)]
    pub(crate) fn address(&self, slot: u32, offset: u32) -> u64 {
        self.get(slot).wrapping_add(offset as i32 as i64 as u64)
    }

    /// Stops the thread with a fault.
    #[cold]
    pub(crate) fn fail(&mut self, kind: FaultKind) -> u32 {
        self.stop = Stop::Fault(Box::new(kind));
        STOP
    }

    /// Stops the thread for a reason that is no fault.
    pub(crate) fn stop(&mut self, stop: Stop) -> u32 {
        self.stop = stop;
        STOP
    }
}
