//! Loads and stores of generic addresses, which point into one of the state spaces.
//!
//! PTX ISA, "Generic Addressing".

use super::area::Area;
use super::global::{global_load, global_store, global_update};
use super::spaces::{Local, Param, Shared};
use crate::execute::machine::Machine;
use crate::launch::Space;
use crate::memory::{AccessKind, LOCAL_BASE, PARAM_BASE, SHARED_BASE, WINDOW_BYTES, Word};

/// No space: the address says which.
pub(crate) struct Generic;

/// The space that a generic address is in, and the address there.
pub(crate) fn resolve(m: &Machine<'_>, address: u64) -> (Space, u64) {
    let within = |base: u64| address.wrapping_sub(base) < WINDOW_BYTES;
    // Past the end of the memory there is, the generic address says more in a fault.
    if within(SHARED_BASE) && address - SHARED_BASE < m.block.shared.len() as u64 {
        (Space::Shared, address - SHARED_BASE)
    } else if within(LOCAL_BASE) && address - LOCAL_BASE < m.thread.local.len() as u64 {
        (Space::Local, address - LOCAL_BASE)
    } else if within(PARAM_BASE) {
        (Space::Param, address - PARAM_BASE)
    } else {
        (Space::Global, address)
    }
}

impl Area for Generic {
    #[inline(always)]
    fn load<W: Word>(m: &mut Machine<'_>, pc: u32, address: u64, kind: AccessKind) -> Option<W> {
        if m.windows[pc as usize].words::<W>(address, 1).is_some() {
            return global_load(m, pc, address, kind, Space::Generic);
        }
        match resolve(m, address) {
            (Space::Shared, offset) => Shared::load(m, pc, offset, kind),
            (Space::Local, offset) => Local::load(m, pc, offset, kind),
            (Space::Param, offset) => Param::load(m, pc, offset, kind),
            (_, address) => global_load(m, pc, address, kind, Space::Generic),
        }
    }

    #[inline(always)]
    fn store<W: Word>(
        m: &mut Machine<'_>,
        pc: u32,
        address: u64,
        value: W,
        kind: AccessKind,
    ) -> Option<()> {
        match resolve(m, address) {
            (Space::Shared, offset) => Shared::store(m, pc, offset, value, kind),
            (Space::Local, offset) => Local::store(m, pc, offset, value, kind),
            (Space::Param, offset) => Param::store(m, pc, offset, value, kind),
            (_, address) => global_store(m, pc, address, value, kind, Space::Generic),
        }
    }

    fn update<W: Word>(
        m: &mut Machine<'_>,
        pc: u32,
        address: u64,
        change: &mut dyn FnMut(u64) -> u64,
    ) -> Option<u64> {
        match resolve(m, address) {
            (Space::Shared, offset) => Shared::update::<W>(m, pc, offset, change),
            (Space::Local, offset) => Local::update::<W>(m, pc, offset, change),
            (Space::Param, offset) => Param::update::<W>(m, pc, offset, change),
            (_, address) => global_update::<W>(m, pc, address, change, Space::Generic),
        }
    }
}
