//! A thread's own state, and its resumption.

use super::block::Block;
use super::grid::{Grid, Worker};
use super::machine::{Machine, Stop};
use crate::fault::{Fault, FaultKind};
use crate::program::Function;
use std::collections::VecDeque;

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
    pub(crate) written: Vec<bool>,
    pub(crate) function: u32,
    /// The call instruction.
    pub(crate) pc: u32,
    pub(crate) base: u32,
    /// The call site, which says where the results go.
    pub(crate) site: u32,
}

/// A thread of a block.
#[derive(Default)]
pub(crate) struct Thread {
    pub(crate) registers: Vec<u64>,
    /// Of the slots that guards watch, those that are written.
    pub(crate) written: Vec<bool>,
    /// Stack of frames, each with the function's local variables.
    pub(crate) local: Vec<u8>,
    /// Start of the current frame.
    pub(crate) base: u32,
    pub(crate) carry: bool,
    pub(crate) function: u32,
    pub(crate) pc: u32,
    pub(crate) frames: Vec<Frame>,
    pub(crate) wait: Wait,
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
        self.frames.clear();
        self.copies.open.clear();
        self.copies.groups.clear();
        let function = &grid.program.functions[grid.entry];
        self.registers.clear();
        self.registers.extend_from_slice(&grid.templates[grid.entry]);
        self.clear_written(grid, function);
        self.local.clear();
        self.local.resize(function.frame_bytes as usize, LOCAL_FILL);
    }

    pub(crate) fn clear_written(&mut self, grid: &Grid<'_>, function: &Function) {
        self.written.clear();
        if grid.options.poison && function.guarded.is_some() {
            self.written.resize(function.template.len(), false);
        }
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

/// Local memory starts as this pattern.
pub(crate) const LOCAL_FILL: u8 = 0xcd;

/// Runs a thread until it waits, ends, faults, or has run `quantum` instructions.
pub(crate) fn resume(
    grid: &Grid<'_>,
    worker: &mut Worker,
    block: &mut Block,
    thread: &mut Thread,
    quantum: u64,
) -> Result<(), FaultKind> {
    let mut left = quantum;
    let registers = std::mem::take(&mut thread.registers);
    let mut machine = Machine {
        registers,
        windows: Vec::new(),
        thread,
        block,
        grid,
        function: &grid.program.functions[0],
        clock: worker.steps,
        stop: Stop::Switch,
    };
    let result = loop {
        match run_function(&mut machine, worker, &mut left) {
            Some(Stop::Switch) if left > 0 => {}
            Some(Stop::Switch | Stop::Wait | Stop::Pause) | None => break Ok(()),
            Some(Stop::End) => {
                machine.thread.wait = Wait::Ended;
                break Ok(());
            }
            Some(Stop::Fault(kind)) => break Err(*kind),
        }
    };
    worker.steps += quantum - left;
    machine.thread.registers = machine.registers;
    result
}

/// Runs within one function; `None` when the quantum is used up.
fn run_function<'a>(
    machine: &mut Machine<'a>,
    worker: &mut Worker,
    left: &mut u64,
) -> Option<Stop> {
    let number = machine.thread.function as usize;
    let grid = machine.grid;
    let function = &grid.program.functions[number];
    let code = grid.code(function);
    machine.function = function;
    std::mem::swap(&mut machine.windows, &mut worker.windows[number]);
    let hits = &mut worker.hits[number][..code.len()];
    let mut pc = machine.thread.pc;
    let mut at = pc;
    let mut remaining = *left;
    while remaining > 0 {
        let Some(instruction) = code.get(pc as usize) else { break };
        hits[pc as usize] += 1;
        remaining -= 1;
        at = pc;
        pc = (instruction.run)(machine, instruction, pc);
    }
    *left = remaining;
    std::mem::swap(&mut machine.windows, &mut worker.windows[number]);
    if pc != crate::program::STOP {
        machine.thread.pc = pc;
        return None;
    }
    let stop = std::mem::take(&mut machine.stop);
    match stop {
        Stop::Switch => {}
        Stop::Pause => machine.thread.pc = at + 1,
        _ => machine.thread.pc = at,
    }
    Some(stop)
}
