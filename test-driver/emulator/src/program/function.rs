//! Decoded functions: frame layout, register slots, operand tables, origins in the text.

use super::collective::Collective;
use super::matrix::Fragment;
use std::collections::BTreeMap;

/// Where an instruction comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin {
    pub(crate) line: u32,
    pub(crate) source: Option<(u32, u32)>,
    /// Index into `Program::mnemonics`; `None` for an instruction that decoding added.
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
    /// A variable in `Program::globals`.
    Global(usize),
    /// A variable in `Program::shared`.
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
    /// As [`Function::result_parts`].
    pub(crate) parts: Vec<Parts>,
}

/// The slots that stand for the parts of a result: one for each byte of an array of bytes, else one for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// Bytes of each.
    pub(crate) bytes: u32,
}

impl Parts {
    /// The slots of `bytes` bytes from `offset` in the result on.
    pub(crate) fn within(self, offset: u32, bytes: u32) -> std::ops::Range<u32> {
        let end = offset.saturating_add(bytes);
        let (from, to) = match self.bytes {
            0 => (0, 0),
            _ => (offset / self.bytes, end.div_ceil(self.bytes)),
        };
        self.first + from.min(self.count)..self.first + to.min(self.count)
    }
}

/// Operands that do not fit into an instruction; instructions hold indices into these tables.
#[derive(Default)]
pub(crate) struct Tables {
    /// Lists of slots, and the targets of `brx.idx`.
    pub(crate) pool: Vec<u32>,
    pub(crate) calls: Vec<CallSite>,
    pub(crate) collectives: Vec<Collective>,
    pub(crate) fragments: Vec<Fragment>,
    pub(crate) texts: Vec<String>,
}

/// A decoded function.
#[derive(Default)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) entry: bool,
    pub(crate) defined: bool,
    pub(crate) parameters: Vec<Slice>,
    pub(crate) returns: Vec<Slice>,
    /// Of each result the slots that say which parts of it are defined; none of a long one.
    pub(crate) result_parts: Vec<Parts>,
    pub(crate) frame_bytes: u32,
    /// Of each instruction.
    pub(crate) origins: Vec<Origin>,
    pub(crate) tables: Tables,
    /// Contents of the slots when the function is entered.
    pub(crate) template: Vec<u64>,
    pub(crate) relocations: Vec<(u32, Symbol, i64)>,
    /// Names of the registers that may be read before they are written, or that shuffles write.
    pub(crate) names: BTreeMap<u32, String>,
    /// Of each slot why it is undefined when the function is entered, as a thread keeps it; empty where
    /// no register is read before it is written.
    pub(crate) undefined: Vec<u32>,
    /// Shared variables that it declares.
    pub(crate) shared: Vec<usize>,
    pub(crate) callees: Vec<usize>,
    pub(crate) calls_indirectly: bool,
}
