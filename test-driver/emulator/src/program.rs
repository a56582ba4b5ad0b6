//! A module decoded for running: registers are numbers, operations are function pointers.

use crate::execute::{Fragment, Machine, WarpOperation};
use std::collections::BTreeMap;
use std::sync::Arc;

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

/// Where an instruction comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin {
    pub(crate) line: u32,
    pub(crate) source: Option<(u32, u32)>,
    /// Index into [`Program::mnemonics`]; `None` for an instruction that decoding added.
    pub(crate) mnemonic: Option<u32>,
}

/// A parameter, return value or argument: where it lies and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) offset: u32,
    pub(crate) bytes: u32,
}

/// What a slot of a function's template is the address of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Symbol {
    /// A variable in [`Program::globals`].
    Global(usize),
    /// A variable in [`Program::shared`].
    Shared(usize),
    /// The start of dynamic shared memory.
    Dynamic,
    /// A function.
    Code(usize),
}

/// A call: which slices of the caller's frame go where.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallSite {
    pub(crate) returns: Vec<Slice>,
    pub(crate) arguments: Vec<Slice>,
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

/// A decoded function.
#[derive(Default)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) entry: bool,
    pub(crate) defined: bool,
    pub(crate) parameters: Vec<Slice>,
    pub(crate) returns: Vec<Slice>,
    pub(crate) frame_bytes: u32,
    pub(crate) code: Vec<Instruction>,
    /// The code with its guards; `None` where no register needs one.
    pub(crate) guarded: Option<Vec<Instruction>>,
    pub(crate) guards: Vec<Guard>,
    pub(crate) origins: Vec<Origin>,
    pub(crate) pool: Vec<u32>,
    pub(crate) calls: Vec<CallSite>,
    pub(crate) warps: Vec<WarpOperation>,
    pub(crate) fragments: Vec<Fragment>,
    pub(crate) texts: Vec<String>,
    /// Contents of the slots when the function is entered.
    pub(crate) template: Vec<u64>,
    pub(crate) relocations: Vec<(u32, Symbol, i64)>,
    /// Names of the slots that are registers.
    pub(crate) names: BTreeMap<u32, String>,
    /// Shared variables that it declares.
    pub(crate) shared: Vec<usize>,
    pub(crate) callees: Vec<usize>,
    pub(crate) calls_indirectly: bool,
}

/// A variable in device memory.
pub(crate) struct Global {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) align: u64,
    pub(crate) constant: bool,
    pub(crate) contents: Vec<u8>,
    /// Place, symbol, offset and mask of each address in the contents.
    pub(crate) addresses: Vec<(usize, Symbol, i64, u64)>,
}

/// A static variable in shared memory.
pub(crate) struct SharedVariable {
    pub(crate) bytes: u32,
    pub(crate) align: u32,
}

/// A decoded module.
#[derive(Default)]
pub(crate) struct Program {
    pub(crate) functions: Vec<Function>,
    pub(crate) globals: Vec<Global>,
    pub(crate) shared: Vec<SharedVariable>,
    pub(crate) files: BTreeMap<u32, Arc<str>>,
    pub(crate) mnemonics: Vec<Arc<str>>,
}

/// Where the static shared variables that a kernel reaches lie.
#[derive(Debug, Default)]
pub(crate) struct SharedLayout {
    pub(crate) offsets: BTreeMap<usize, u32>,
    pub(crate) bytes: u32,
}

impl SharedLayout {
    /// Dynamic shared memory starts here.
    pub(crate) fn dynamic(&self) -> u32 {
        self.bytes.next_multiple_of(16)
    }
}

impl Program {
    /// The functions that `entry` can reach, itself first.
    pub(crate) fn reachable(&self, entry: usize) -> Vec<usize> {
        let mut seen = vec![false; self.functions.len()];
        let mut order = vec![entry];
        seen[entry] = true;
        let mut at = 0;
        while at < order.len() {
            let function = &self.functions[order[at]];
            at += 1;
            let every = if function.calls_indirectly { 0..self.functions.len() } else { 0..0 };
            for next in function.callees.iter().copied().chain(every) {
                if !self.functions[next].entry && !std::mem::replace(&mut seen[next], true) {
                    order.push(next);
                }
            }
        }
        order
    }

    /// Lays out the shared variables of a kernel.
    pub(crate) fn shared_layout(&self, entry: usize) -> SharedLayout {
        let mut layout = SharedLayout::default();
        for index in self.reachable(entry) {
            let function = &self.functions[index];
            let named = function.relocations.iter().filter_map(|(_, symbol, _)| match symbol {
                Symbol::Shared(index) => Some(*index),
                _ => None,
            });
            for index in function.shared.iter().copied().chain(named) {
                if layout.offsets.contains_key(&index) {
                    continue;
                }
                let variable = &self.shared[index];
                let offset = layout.bytes.next_multiple_of(variable.align);
                layout.offsets.insert(index, offset);
                layout.bytes = offset + variable.bytes;
            }
        }
        layout
    }

    /// File and line of an instruction's source. Compilers write line 0 for what is of none.
    pub(crate) fn source(&self, origin: Origin) -> Option<(Arc<str>, u32)> {
        let (file, line) = origin.source.filter(|&(_, line)| line > 0)?;
        Some((Arc::clone(self.files.get(&file)?), line))
    }
}
