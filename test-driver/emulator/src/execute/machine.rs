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

/// What an instruction does with operands that may be undefined, and the handler that runs it.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) run: Handler,
    /// Operands that have to be defined.
    pub(crate) needs: Vec<u32>,
    /// Operands that the results come from.
    pub(crate) flows: Vec<u32>,
    pub(crate) defines: Vec<u32>,
    pub(crate) transfer: Transfer,
}

/// What becomes of undefined operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transfer {
    /// They are a fault: they decide where control or an access goes, or leave the thread.
    Use,
    /// The result is undefined where any of them is.
    Compute,
    /// The result is undefined where all of them are: what is packed with them is padding.
    Pack,
    /// The result is that of the first or second operand, which the third decides.
    Select,
    /// As [`Transfer::Compute`], but a zero decides alone.
    And,
    /// As [`Transfer::Compute`] for predicates, but a one decides alone.
    Or,
    /// The first operand is an address and has to be defined; padding may be stored where only the
    /// thread itself can see it.
    Store,
    /// As [`Transfer::Store`] where others can see it: not all that is stored may be undefined.
    Publish,
    /// The first result is another lane's `a`, which is known when the lanes have met.
    Shuffle,
    /// Operands have to be defined; whether the results are is known when the function returns.
    Call,
    /// The operands go to the caller, defined or not.
    Return,
}

impl Transfer {
    /// How many of the operands of an instruction have to be defined; they come first.
    pub(crate) fn needed(self, operands: usize) -> usize {
        match self {
            Transfer::Use | Transfer::Call => operands,
            Transfer::Store | Transfer::Publish => 1.min(operands),
            Transfer::Shuffle => operands.saturating_sub(1),
            _ => 0,
        }
    }
}

/// The code of a function.
#[derive(Default)]
pub(crate) struct Code {
    pub(crate) plain: Vec<Instruction>,
    /// The code with its guards; `None` where no register needs one.
    pub(crate) guarded: Option<Vec<Instruction>>,
    /// Whether it is needed from the start; else only once a shuffle gave something undefined.
    pub(crate) always: bool,
    /// One for each guarded instruction.
    pub(crate) guards: Vec<Guard>,
    /// Which instructions only make registers of registers, and always the same of the same.
    pub(crate) steady: Vec<bool>,
    /// Which instructions only read memory into registers.
    pub(crate) loads: Vec<bool>,
}

impl Code {
    /// The instructions to run: with guards where undefined registers are checked, and there may be any.
    pub(crate) fn instructions(&self, is_checked: bool, is_tainted: bool) -> &[Instruction] {
        match &self.guarded {
            Some(guarded) if is_checked && (self.always || is_tainted) => guarded,
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
