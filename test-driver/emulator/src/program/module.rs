//! Decoded modules: functions, variables and the layout of shared memory.

use super::function::{Function, Origin, Symbol};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A variable in device memory.
pub(crate) struct Global {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) align: u64,
    pub(crate) constant: bool,
    /// What is not zero from the start.
    pub(crate) values: Vec<Value>,
    pub(crate) addresses: Vec<Address>,
}

/// A value in a variable: the lowest `bytes` bytes of `bits`.
#[derive(Clone, Copy)]
pub(crate) struct Value {
    pub(crate) place: u64,
    pub(crate) bits: u64,
    pub(crate) bytes: u32,
}

/// An address in a variable, of which `mask` selects the bytes.
#[derive(Clone, Copy)]
pub(crate) struct Address {
    pub(crate) place: u64,
    pub(crate) symbol: Symbol,
    pub(crate) offset: i64,
    pub(crate) mask: u64,
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
        self.bytes.checked_next_multiple_of(16).unwrap_or(u32::MAX)
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
                let offset = layout.bytes.checked_next_multiple_of(variable.align);
                let offset = offset.unwrap_or(u32::MAX);
                layout.offsets.insert(index, offset);
                layout.bytes = offset.saturating_add(variable.bytes);
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
