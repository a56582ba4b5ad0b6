//! The state of a thread: registers, local memory, call stack, what it waits for.

use super::grid::Grid;
use crate::launch::{Fault, FaultKind};
use crate::program::Function;
use std::collections::VecDeque;

/// Local memory starts as this pattern.
pub(crate) const LOCAL_FILL: u8 = 0xcd;

/// What a thread is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wait {
    /// It can run.
    #[default]
    Ready,
    /// It waits at a barrier of the block.
    Barrier(BarrierWait),
    /// It waits for the other lanes of a warp operation.
    Warp {
        /// Index into the function's operations.
        operation: u32,
        /// Lanes that take part.
        mask: u32,
    },
    /// It has ended.
    Ended,
}

/// A thread's side of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BarrierWait {
    pub(crate) barrier: u32,
    /// Number of threads that open it; `None` for the whole block.
    pub(crate) count: Option<u32>,
    /// All threads of a warp must be at the same instruction.
    pub(crate) aligned: bool,
    /// Slot that takes the result of a reduction, and which it is.
    pub(crate) reduction: Option<(u32, Reduction)>,
    /// The thread's part in the reduction.
    pub(crate) vote: bool,
}

/// What `barrier.red` computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Count,
    All,
    Any,
}

/// A caller that waits for its call to return.
pub(crate) struct Frame {
    pub(crate) registers: Vec<u64>,
    pub(crate) undefined: Vec<u32>,
    pub(crate) function: u32,
    /// The call instruction.
    pub(crate) pc: u32,
    pub(crate) base: u32,
    /// The call site, which says where the results go.
    pub(crate) site: u32,
    /// Bytes that the call takes until it returns.
    pub(crate) kept: usize,
}

/// Why a register is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undefined {
    /// The register in this slot was never written.
    Unwritten(u32),
    /// `shfl.sync` gave the register in this slot the value of a lane that took no part.
    Shuffled(u32),
    /// The function that was called did not write the result in this slot.
    Returned(u32),
}

impl Undefined {
    const SHUFFLED: u32 = 1 << 31;
    const RETURNED: u32 = 1 << 30;

    pub(crate) fn number(self) -> u32 {
        match self {
            Undefined::Unwritten(slot) => slot + 1,
            Undefined::Shuffled(slot) => (slot + 1) | Self::SHUFFLED,
            Undefined::Returned(slot) => (slot + 1) | Self::RETURNED,
        }
    }

    fn of(number: u32) -> Option<Undefined> {
        let slot = (number & !(Self::SHUFFLED | Self::RETURNED)).checked_sub(1)?;
        Some(match number {
            _ if number & Self::SHUFFLED != 0 => Undefined::Shuffled(slot),
            _ if number & Self::RETURNED != 0 => Undefined::Returned(slot),
            _ => Undefined::Unwritten(slot),
        })
    }
}

/// A thread of a block.
#[derive(Default)]
pub(crate) struct Thread {
    pub(crate) registers: Vec<u64>,
    /// Of each slot what made it undefined, as [`Undefined::number`], or 0; empty where all are defined.
    pub(crate) undefined: Vec<u32>,
    /// Whether a shuffle or a call has given it something undefined.
    pub(crate) tainted: bool,
    /// Stack of frames, each with the function's local variables.
    pub(crate) local: Vec<u8>,
    /// Start of the current frame.
    pub(crate) base: u32,
    pub(crate) carry: bool,
    pub(crate) function: u32,
    pub(crate) pc: u32,
    pub(crate) frames: Vec<Frame>,
    pub(crate) wait: Wait,
    /// Address of its last atomic operation.
    pub(crate) counted: Option<u64>,
    /// Whether it reads the word of that operation in a loop until another thread changes it.
    pub(crate) polls: bool,
    /// Whether it has found that memory as it was since its block has last done something else.
    pub(crate) has_looked: bool,
    pub(crate) index: [u32; 3],
    /// Number in the block.
    pub(crate) linear: u32,
    /// Copies that it has begun and not waited for.
    pub(crate) copies: Copies,
}

/// The copies of `cp.async` that a thread has begun: they come to shared memory when it waits for
/// them, the latest moment there is, so that nothing is there by luck.
#[derive(Default)]
pub(crate) struct Copies {
    /// Those that are in no group yet.
    pub(crate) open: Vec<Arriving>,
    /// The others, the oldest group first.
    pub(crate) groups: VecDeque<Vec<Arriving>>,
}

/// What has been read, and where it goes.
#[derive(Clone, Copy)]
pub(crate) struct Arriving {
    pub(crate) to: u64,
    pub(crate) words: [u32; 4],
    pub(crate) count: usize,
}

impl Thread {
    /// Starts over as thread `linear` of a block.
    pub(crate) fn start(&mut self, grid: &Grid<'_>, linear: u32) {
        let [x, y, _] = grid.block;
        self.index = [linear % x, linear / x % y, linear / x / y];
        self.linear = linear;
        self.function = grid.entry as u32;
        self.pc = 0;
        self.base = 0;
        self.carry = false;
        self.wait = Wait::Ready;
        (self.counted, self.polls, self.has_looked) = (None, false, false);
        self.tainted = false;
        self.frames.clear();
        self.copies.open.clear();
        self.copies.groups.clear();
        let function = &grid.program.functions[grid.entry];
        self.registers.clear();
        self.registers.extend_from_slice(&grid.templates[grid.entry]);
        self.forget_registers(grid, function);
        self.local.clear();
        self.local.resize(function.frame_bytes as usize, LOCAL_FILL);
    }

    /// Makes the registers of a function that was entered undefined.
    pub(crate) fn forget_registers(&mut self, grid: &Grid<'_>, function: &Function) {
        self.undefined.clear();
        if grid.options.poison {
            self.undefined.extend_from_slice(&function.undefined);
        }
    }

    /// What made a slot undefined, if it is.
    pub(crate) fn undefined(&self, slot: u32) -> Option<Undefined> {
        Undefined::of(self.undefined.get(slot as usize).copied().unwrap_or(0))
    }

    /// Notes whether a slot is undefined.
    pub(crate) fn define(&mut self, slot: u32, undefined: Option<Undefined>) {
        let slot = slot as usize;
        if self.undefined.len() <= slot {
            if undefined.is_none() {
                return;
            }
            self.undefined.resize(slot + 1, 0);
        }
        self.undefined[slot] = undefined.map_or(0, Undefined::number);
    }

    pub(crate) fn lane(&self) -> u32 {
        self.linear % 32
    }

    pub(crate) fn warp(&self) -> u32 {
        self.linear / 32
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.wait == Wait::Ready
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.wait == Wait::Ended
    }

    /// The fault of this thread at an instruction.
    pub(crate) fn fault(&self, grid: &Grid<'_>, block: [u32; 3], kind: FaultKind) -> Fault {
        let function = &grid.program.functions[self.function as usize];
        let origin = function.origins.get(self.pc as usize).copied().unwrap_or_default();
        Fault {
            kind,
            ptx_line: origin.line,
            source: grid.program.source(origin),
            function: function.name.clone(),
            block,
            thread: self.index,
            report: Box::default(),
        }
    }
}
