//! Modules that are loaded on a device: the addresses of their variables.

use crate::memory::{CODE_BASE, Store};
use crate::module::Module;
use crate::program::{Address, Global, SharedLayout, Symbol, Value};
use std::sync::Arc;

/// A module on a device; dropping it frees its variables.
pub struct Loaded {
    pub(crate) store: Arc<Store>,
    pub(crate) module: Module,
    /// Address of each of the program's globals.
    pub(crate) addresses: Vec<u64>,
}

impl Loaded {
    /// Device address and length in bytes of a variable of the module.
    pub fn global(&self, name: &str) -> Option<(u64, usize)> {
        let globals = &self.module.program.globals;
        let index = globals.iter().position(|global| global.name == name)?;
        Some((self.addresses[index], globals[index].bytes as usize))
    }

    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    fn address(&self, symbol: Symbol, layout: &SharedLayout) -> u64 {
        match symbol {
            Symbol::Global(index) => self.addresses[index],
            Symbol::Shared(index) => layout.offsets.get(&index).copied().unwrap_or(0).into(),
            Symbol::Dynamic => layout.dynamic().into(),
            Symbol::Code(index) => CODE_BASE + 16 * (index as u64 + 1),
        }
    }

    /// The values of a variable, those among them that are addresses too.
    pub(crate) fn values(&self, global: &Global) -> Vec<Value> {
        let addresses = global.addresses.iter().map(|&Address { place, symbol, offset, mask }| {
            let address = self.address(symbol, &SharedLayout::default());
            let value = address.wrapping_add(offset as u64);
            // A mask of less than all bits selects one part, which is stored at its lowest byte.
            let shift = mask.trailing_zeros().min(63);
            let bits = (value & mask) >> shift;
            let length = 64u32.saturating_sub(mask.leading_zeros() + shift).div_ceil(8);
            let left = u32::try_from(global.bytes.saturating_sub(place)).unwrap_or(u32::MAX);
            Value { place, bits, bytes: length.min(8).min(left) }
        });
        global.values.iter().copied().chain(addresses).collect()
    }

    /// The slots of each function that a kernel reaches.
    pub(crate) fn templates(&self, entry: usize, layout: &SharedLayout) -> Vec<Vec<u64>> {
        let program = &self.module.program;
        let mut templates = vec![Vec::new(); program.functions.len()];
        for index in program.reachable(entry) {
            let function = &program.functions[index];
            let mut template = function.template.clone();
            for &(slot, symbol, offset) in &function.relocations {
                let address = self.address(symbol, layout);
                template[slot as usize] = address.wrapping_add(offset as u64);
            }
            templates[index] = template;
        }
        templates
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        for &address in &self.addresses {
            // A kernel or the host may have freed a variable's memory already; nothing is lost then.
            let _ = self.store.free(address);
        }
    }
}
