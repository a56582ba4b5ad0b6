//! The machine that runs one thread: directly threaded code, and the state that its handlers reach.
//!
//! Each instruction is a function pointer with its operands, which gives the number of the next
//! instruction. (Anton Ertl, ["Threaded Code"](https://www.complang.tuwien.ac.at/forth/threaded-code.html);
//! here the handlers are called from a loop.)

use super::state::{Block, Grid, Thread};
use crate::launch::FaultKind;
use crate::memory::Window;
use crate::program::Function;

/// Runs one instruction and gives the number of the next one, or [`STOP`].
pub(crate) type Handler = fn(&mut Machine<'_>, &Instruction, u32) -> u32;

/// Given instead of a next instruction when the thread cannot simply go on.
pub(crate) const STOP: u32 = u32::MAX;

/// A decoded instruction. What its operands mean is up to its handler; mostly they are slots.
#[derive(Clone, Copy)]
pub(crate) struct Instruction {
    pub(crate) run: Handler,
    pub(crate) d: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) c: u32,
    pub(crate) e: u32,
    pub(crate) x: u32,
}

/// A check of registers that may be read before they are written.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) run: Handler,
    pub(crate) uses: Vec<u32>,
    pub(crate) defines: Vec<u32>,
    pub(crate) transfer: Transfer,
}

/// What an instruction does with an unwritten operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transfer {
    /// It is a fault.
    Compute,
    /// The result is written when any operand is.
    Copy,
    /// Nothing: padding may be stored.
    Store,
}

/// The code of a function.
#[derive(Default)]
pub(crate) struct Code {
    pub(crate) plain: Vec<Instruction>,
    /// The code with its guards; `None` where no register needs one.
    pub(crate) guarded: Option<Vec<Instruction>>,
    /// One for each guarded instruction.
    pub(crate) guards: Vec<Guard>,
}

impl Code {
    /// The instructions to run, with guards where uninitialised reads are checked.
    pub(crate) fn instructions(&self, is_checked: bool) -> &[Instruction] {
        match &self.guarded {
            Some(guarded) if is_checked => guarded,
            _ => &self.plain,
        }
    }
}

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
    /// Of the current function.
    pub(crate) guards: &'a [Guard],
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
