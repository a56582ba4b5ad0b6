//! Building decoded instructions.

use crate::execute::{Handler, Instruction, Transfer};

/// Where control goes after an instruction, unless the thread stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// To the next one.
    Next,
    /// To `e`.
    Jump,
    /// To the next one or to `e`.
    Branch,
    /// To one of `e..e+c` of the pool.
    Table,
    /// Nowhere.
    End,
}

/// A decoded instruction with the slots that it reads and writes.
#[derive(Clone)]
pub(crate) struct Build {
    pub(crate) instruction: Instruction,
    pub(crate) uses: Vec<u32>,
    pub(crate) defines: Vec<u32>,
    pub(crate) transfer: Transfer,
    pub(crate) flow: Flow,
    /// Whether what it gives depends on more than its operands: it reads a clock.
    pub(crate) reads_clock: bool,
    /// Whether it only reads memory into registers.
    pub(crate) is_load: bool,
}

impl Build {
    pub(crate) fn new(run: Handler) -> Build {
        let instruction = Instruction { run, d: 0, a: 0, b: 0, c: 0, e: 0, x: 0 };
        Build {
            instruction,
            uses: Vec::new(),
            defines: Vec::new(),
            transfer: Transfer::Use,
            flow: Flow::Next,
            reads_clock: false,
            is_load: false,
        }
    }

    /// Whether it only makes registers of registers, and always the same of the same, or jumps.
    pub(crate) fn is_steady(&self) -> bool {
        let computes = !matches!(
            self.transfer,
            Transfer::Use
                | Transfer::Store
                | Transfer::Publish
                | Transfer::Shuffle
                | Transfer::Call
                | Transfer::Return
        );
        match self.flow {
            Flow::Next => computes && !self.reads_clock,
            Flow::Jump | Flow::Branch => true,
            Flow::Table | Flow::End => false,
        }
    }

    /// Notes whether it only reads memory into registers.
    pub(crate) fn load(mut self, is_load: bool) -> Build {
        self.is_load = is_load;
        self
    }

    /// The slot that it writes.
    pub(crate) fn d(mut self, slot: u32) -> Build {
        self.instruction.d = slot;
        self.writes(slot)
    }

    pub(crate) fn a(mut self, slot: u32) -> Build {
        self.instruction.a = slot;
        self.reads(slot)
    }

    pub(crate) fn b(mut self, slot: u32) -> Build {
        self.instruction.b = slot;
        self.reads(slot)
    }

    pub(crate) fn c(mut self, slot: u32) -> Build {
        self.instruction.c = slot;
        self.reads(slot)
    }

    pub(crate) fn e(mut self, slot: u32) -> Build {
        self.instruction.e = slot;
        self.reads(slot)
    }

    /// A word that is no slot.
    pub(crate) fn x(mut self, word: u32) -> Build {
        self.instruction.x = word;
        self
    }

    /// Sets fields that are no slots.
    pub(crate) fn with(mut self, set: impl FnOnce(&mut Instruction)) -> Build {
        set(&mut self.instruction);
        self
    }

    pub(crate) fn reads(mut self, slot: u32) -> Build {
        self.uses.push(slot);
        self
    }

    pub(crate) fn writes(mut self, slot: u32) -> Build {
        self.defines.push(slot);
        self
    }

    pub(crate) fn transfer(mut self, transfer: Transfer) -> Build {
        self.transfer = transfer;
        self
    }

    pub(crate) fn flow(mut self, flow: Flow) -> Build {
        self.flow = flow;
        self
    }
}
