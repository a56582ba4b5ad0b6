//! Loads and stores of device memory: `.global` and `.const`.

use super::area::{Area, check_alignment, misaligned};
use crate::execute::machine::Machine;
use crate::launch::{FaultKind, Space};
use crate::memory::{AccessKind, Window, Word};

/// `.global` and `.const`.
pub(crate) struct Global;
/// Looks an address of device memory up and remembers its allocation for the instruction.
#[cold]
fn refill<W: Word>(
    m: &mut Machine<'_>,
    pc: u32,
    space: Space,
    address: u64,
    write: bool,
) -> Option<()> {
    check_alignment(m, space, address, W::BYTES)?;
    match m.grid.store.find(address, u64::from(W::BYTES)) {
        Some(region) => m.windows[pc as usize] = Window::new(region),
        None => {
            let kind = m.grid.store.fault(space, address, W::BYTES, write);
            m.fail(kind);
            return None;
        }
    }
    let window = &m.windows[pc as usize];
    if window.words::<W>(address, 1).is_none() {
        return misaligned(m, space, address, W::BYTES);
    }
    Some(())
}

/// Sees to it that an instruction remembers the allocation of an address, and may write it.
#[inline(always)]
fn prepare_write<W: Word>(m: &mut Machine<'_>, pc: u32, space: Space, address: u64) -> Option<()> {
    if m.windows[pc as usize].words::<W>(address, 1).is_none() {
        refill::<W>(m, pc, space, address, true)?;
    }
    if m.windows[pc as usize].writable() {
        return Some(());
    }
    m.fail(FaultKind::ReadOnly { address });
    None
}

#[inline(always)]
pub(super) fn global_load<W: Word>(
    m: &mut Machine<'_>,
    pc: u32,
    at: u64,
    kind: AccessKind,
    space: Space,
) -> Option<W> {
    let value = match m.windows[pc as usize].words::<W>(at, 1) {
        Some(words) => words.load(0),
        None => {
            refill::<W>(m, pc, space, at, false)?;
            m.windows[pc as usize].words::<W>(at, 1)?.load(0)
        }
    };
    if m.block.observer.is_some() && kind.is_used() {
        m.observe(Space::Global, pc, at, W::BYTES, kind)?;
    }
    Some(value)
}

#[inline(always)]
pub(super) fn global_store<W: Word>(
    m: &mut Machine<'_>,
    pc: u32,
    address: u64,
    value: W,
    kind: AccessKind,
    space: Space,
) -> Option<()> {
    prepare_write::<W>(m, pc, space, address)?;
    m.windows[pc as usize].words::<W>(address, 1)?.store(0, value);
    if m.block.observer.is_some() {
        m.observe(Space::Global, pc, address, W::BYTES, kind)?;
    }
    Some(())
}

pub(super) fn global_update<W: Word>(
    m: &mut Machine<'_>,
    pc: u32,
    address: u64,
    change: &mut dyn FnMut(u64) -> u64,
    space: Space,
) -> Option<u64> {
    prepare_write::<W>(m, pc, space, address)?;
    if m.block.observer.is_some() {
        m.observe(Space::Global, pc, address, W::BYTES, AccessKind::ATOMIC)?;
    }
    Some(m.windows[pc as usize].words::<W>(address, 1)?.update(change))
}

impl Area for Global {
    #[inline(always)]
    fn load<W: Word>(m: &mut Machine<'_>, pc: u32, address: u64, kind: AccessKind) -> Option<W> {
        global_load(m, pc, address, kind, Space::Global)
    }

    #[inline(always)]
    fn store<W: Word>(
        m: &mut Machine<'_>,
        pc: u32,
        address: u64,
        value: W,
        kind: AccessKind,
    ) -> Option<()> {
        global_store(m, pc, address, value, kind, Space::Global)
    }

    fn update<W: Word>(
        m: &mut Machine<'_>,
        pc: u32,
        address: u64,
        change: &mut dyn FnMut(u64) -> u64,
    ) -> Option<u64> {
        global_update::<W>(m, pc, address, change, Space::Global)
    }
}
