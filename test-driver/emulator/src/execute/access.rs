//! Loads and stores.

use super::machine::Machine;
use super::observe::Kind;
use crate::fault::{FaultKind, Space};
use crate::memory::{LOCAL_BASE, PARAM_BASE, SHARED_BASE, WINDOW_BYTES, Window, Word};

/// A part of memory that an instruction names. `None` means that the thread has faulted.
pub(crate) trait Area {
    fn load<W: Word>(m: &mut Machine<'_>, pc: u32, address: u64, kind: Kind) -> Option<W>;
    fn store<W: Word>(
        m: &mut Machine<'_>,
        pc: u32,
        address: u64,
        value: W,
        kind: Kind,
    ) -> Option<()>;
    /// Replaces a word in one step and gives the register it was.
    fn update<W: Word>(
        m: &mut Machine<'_>,
        pc: u32,
        address: u64,
        change: &mut dyn FnMut(u64) -> u64,
    ) -> Option<u64>;
}

/// `.global` and `.const`.
pub(crate) struct Global;
/// `.shared`
pub(crate) struct Shared;
/// `.local`
pub(crate) struct Local;
/// `.param` of a kernel.
pub(crate) struct Param;
/// No space: the address says which.
pub(crate) struct Generic;

#[cold]
fn misaligned(m: &mut Machine<'_>, space: Space, address: u64, bytes: u32) -> Option<()> {
    m.fail(FaultKind::Misaligned { space, address, bytes });
    None
}

#[inline(always)]
fn check_alignment(m: &mut Machine<'_>, space: Space, address: u64, bytes: u32) -> Option<()> {
    if address & u64::from(bytes - 1) == 0 {
        return Some(());
    }
    misaligned(m, space, address, bytes)
}

#[cold]
fn out_of_bounds(m: &mut Machine<'_>, space: Space, address: u64, bytes: u32, write: bool) {
    m.fail(FaultKind::OutOfBounds { space, address, bytes, write, nearest: None });
}

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

#[inline(always)]
fn global_load<W: Word>(
    m: &mut Machine<'_>,
    pc: u32,
    at: u64,
    kind: Kind,
    space: Space,
) -> Option<W> {
    let value = match m.windows[pc as usize].words::<W>(at, 1) {
        Some(words) => words.load(0),
        None => {
            refill::<W>(m, pc, space, at, false)?;
            m.windows[pc as usize].words::<W>(at, 1)?.load(0)
        }
    };
    if m.block.observer.is_some() {
        m.observe(Space::Global, pc, at, W::BYTES, kind)?;
    }
    Some(value)
}

#[inline(always)]
fn global_store<W: Word>(
    m: &mut Machine<'_>,
    pc: u32,
    address: u64,
    value: W,
    kind: Kind,
    space: Space,
) -> Option<()> {
    if m.windows[pc as usize].words::<W>(address, 1).is_none() {
        refill::<W>(m, pc, space, address, true)?;
    }
    let window = &m.windows[pc as usize];
    if !window.writable() {
        m.fail(FaultKind::ReadOnly { address });
        return None;
    }
    window.words::<W>(address, 1)?.store(0, value);
    if m.block.observer.is_some() {
        m.observe(Space::Global, pc, address, W::BYTES, kind)?;
    }
    Some(())
}

fn global_update<W: Word>(
    m: &mut Machine<'_>,
    pc: u32,
    address: u64,
    change: &mut dyn FnMut(u64) -> u64,
    space: Space,
) -> Option<u64> {
    if m.windows[pc as usize].words::<W>(address, 1).is_none() {
        refill::<W>(m, pc, space, address, true)?;
    }
    if m.block.observer.is_some() {
        m.observe(Space::Global, pc, address, W::BYTES, Kind::ATOMIC)?;
    }
    let window = &m.windows[pc as usize];
    if !window.writable() {
        m.fail(FaultKind::ReadOnly { address });
        return None;
    }
    Some(window.words::<W>(address, 1)?.update(change))
}

impl Area for Global {
    #[inline(always)]
    fn load<W: Word>(m: &mut Machine<'_>, pc: u32, address: u64, kind: Kind) -> Option<W> {
        global_load(m, pc, address, kind, Space::Global)
    }

    #[inline(always)]
    fn store<W: Word>(
        m: &mut Machine<'_>,
        pc: u32,
        address: u64,
        value: W,
        kind: Kind,
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

/// The range of `length` bytes at `address`, if that many are there.
#[inline(always)]
fn range(address: u64, bytes: u32, length: usize) -> Option<std::ops::Range<usize>> {
    let start = address as usize;
    let end = start.checked_add(bytes as usize)?;
    (end <= length).then_some(start..end)
}

#[inline(always)]
fn locate<W: Word>(
    m: &mut Machine<'_>,
    space: Space,
    address: u64,
    length: usize,
    write: bool,
) -> Option<std::ops::Range<usize>> {
    check_alignment(m, space, address, W::BYTES)?;
    let found = range(address, W::BYTES, length);
    if found.is_none() {
        out_of_bounds(m, space, address, W::BYTES, write);
    }
    found
}

impl Area for Shared {
    #[inline(always)]
    fn load<W: Word>(m: &mut Machine<'_>, pc: u32, address: u64, kind: Kind) -> Option<W> {
        let range = locate::<W>(m, Space::Shared, address, m.block.shared.len(), false)?;
        if m.block.watched {
            m.check_shared_written(address, range.clone())?;
            m.observe(Space::Shared, pc, address, W::BYTES, kind)?;
        }
        Some(W::read(&m.block.shared[range]))
    }

    #[inline(always)]
    fn store<W: Word>(
        m: &mut Machine<'_>,
        pc: u32,
        address: u64,
        value: W,
        kind: Kind,
    ) -> Option<()> {
        let range = locate::<W>(m, Space::Shared, address, m.block.shared.len(), true)?;
        if m.block.watched {
            m.block.mark_shared_written(range.clone());
            m.observe(Space::Shared, pc, address, W::BYTES, kind)?;
        }
        value.write(&mut m.block.shared[range]);
        Some(())
    }

    fn update<W: Word>(
        m: &mut Machine<'_>,
        pc: u32,
        address: u64,
        change: &mut dyn FnMut(u64) -> u64,
    ) -> Option<u64> {
        let range = locate::<W>(m, Space::Shared, address, m.block.shared.len(), true)?;
        if m.block.watched {
            m.check_shared_written(address, range.clone())?;
            m.observe(Space::Shared, pc, address, W::BYTES, Kind::ATOMIC)?;
        }
        let bytes = &mut m.block.shared[range];
        let old = W::read(bytes).register();
        W::of(change(old)).write(bytes);
        Some(old)
    }
}

impl Area for Local {
    #[inline(always)]
    fn load<W: Word>(m: &mut Machine<'_>, _: u32, address: u64, _: Kind) -> Option<W> {
        let range = locate::<W>(m, Space::Local, address, m.thread.local.len(), false)?;
        Some(W::read(&m.thread.local[range]))
    }

    #[inline(always)]
    fn store<W: Word>(m: &mut Machine<'_>, _: u32, address: u64, value: W, _: Kind) -> Option<()> {
        let range = locate::<W>(m, Space::Local, address, m.thread.local.len(), true)?;
        value.write(&mut m.thread.local[range]);
        Some(())
    }

    fn update<W: Word>(
        m: &mut Machine<'_>,
        _: u32,
        address: u64,
        change: &mut dyn FnMut(u64) -> u64,
    ) -> Option<u64> {
        let range = locate::<W>(m, Space::Local, address, m.thread.local.len(), true)?;
        let bytes = &mut m.thread.local[range];
        let old = W::read(bytes).register();
        W::of(change(old)).write(bytes);
        Some(old)
    }
}

impl Area for Param {
    #[inline(always)]
    fn load<W: Word>(m: &mut Machine<'_>, _: u32, address: u64, _: Kind) -> Option<W> {
        let parameters = &m.grid.parameters;
        let range = locate::<W>(m, Space::Param, address, parameters.len(), false)?;
        Some(W::read(&m.grid.parameters[range]))
    }

    fn store<W: Word>(m: &mut Machine<'_>, _: u32, address: u64, _: W, _: Kind) -> Option<()> {
        m.fail(FaultKind::ReadOnly { address });
        None
    }

    fn update<W: Word>(
        m: &mut Machine<'_>,
        _: u32,
        address: u64,
        _: &mut dyn FnMut(u64) -> u64,
    ) -> Option<u64> {
        m.fail(FaultKind::ReadOnly { address });
        None
    }
}

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
    fn load<W: Word>(m: &mut Machine<'_>, pc: u32, address: u64, kind: Kind) -> Option<W> {
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
        kind: Kind,
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
