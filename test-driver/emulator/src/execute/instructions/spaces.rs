//! Loads and stores of `.shared`, `.local` and `.param`.

use super::area::{Area, check_alignment};
use crate::execute::machine::Machine;
use crate::launch::{FaultKind, Space};
use crate::memory::{AccessKind, Word, wrap_narrow};
use std::ops::Range;

/// `.shared`
pub(crate) struct Shared;
/// `.local`
pub(crate) struct Local;
/// The function's own part of `.local`; the address is an offset into it.
pub(crate) struct Frame;
/// `.param` of a kernel.
pub(crate) struct Param;
#[cold]
fn out_of_bounds(m: &mut Machine<'_>, space: Space, address: u64, bytes: u32, write: bool) {
    m.fail(FaultKind::OutOfBounds { space, address, bytes, write, nearest: None });
}

/// The range of `length` bytes at `address`, if that many are there.
#[inline(always)]
fn range(address: u64, bytes: u32, length: usize) -> Option<Range<usize>> {
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
) -> Option<Range<usize>> {
    check_alignment(m, space, address, W::BYTES)?;
    // Few addresses wrap: only where the address itself is none it is looked at again.
    let found =
        range(address, W::BYTES, length).or_else(|| range(wrap_narrow(address), W::BYTES, length));
    if found.is_none() {
        out_of_bounds(m, space, address, W::BYTES, write);
    }
    found
}

/// A part of memory that is a run of bytes.
trait Bytes {
    const SPACE: Space;

    fn bytes<'m>(m: &'m mut Machine<'_>) -> &'m mut Vec<u8>;

    /// The place of an address among the bytes.
    #[inline(always)]
    fn place(_: &Machine<'_>, address: u64) -> u64 {
        address
    }

    /// Called before bytes are read.
    #[inline(always)]
    fn read(_: &mut Machine<'_>, _: u32, _: Range<usize>, _: AccessKind) -> Option<()> {
        Some(())
    }

    /// Called before bytes are written.
    #[inline(always)]
    fn write(_: &mut Machine<'_>, _: u32, _: Range<usize>, _: AccessKind) -> Option<()> {
        Some(())
    }
}

#[inline(always)]
fn locate_in<B: Bytes, W: Word>(
    m: &mut Machine<'_>,
    address: u64,
    write: bool,
) -> Option<Range<usize>> {
    let (address, length) = (B::place(m, address), B::bytes(m).len());
    locate::<W>(m, B::SPACE, address, length, write)
}

impl<B: Bytes> Area for B {
    #[inline(always)]
    fn load<W: Word>(m: &mut Machine<'_>, pc: u32, address: u64, kind: AccessKind) -> Option<W> {
        let range = locate_in::<B, W>(m, address, false)?;
        B::read(m, pc, range.clone(), kind)?;
        Some(W::read(&B::bytes(m)[range]))
    }

    #[inline(always)]
    fn store<W: Word>(
        m: &mut Machine<'_>,
        pc: u32,
        address: u64,
        value: W,
        kind: AccessKind,
    ) -> Option<()> {
        let range = locate_in::<B, W>(m, address, true)?;
        B::write(m, pc, range.clone(), kind)?;
        value.write(&mut B::bytes(m)[range]);
        Some(())
    }

    fn update<W: Word>(
        m: &mut Machine<'_>,
        pc: u32,
        address: u64,
        change: &mut dyn FnMut(u64) -> u64,
    ) -> Option<u64> {
        let range = locate_in::<B, W>(m, address, true)?;
        B::read(m, pc, range.clone(), AccessKind::ATOMIC)?;
        let bytes = &mut B::bytes(m)[range];
        let old = W::read(bytes).register();
        W::of(change(old)).write(bytes);
        Some(old)
    }
}

impl Bytes for Shared {
    const SPACE: Space = Space::Shared;

    #[inline(always)]
    fn bytes<'m>(m: &'m mut Machine<'_>) -> &'m mut Vec<u8> {
        &mut m.block.shared
    }

    #[inline(always)]
    fn read(m: &mut Machine<'_>, pc: u32, range: Range<usize>, kind: AccessKind) -> Option<()> {
        if m.block.watched && kind.is_used() {
            let (address, bytes) = (range.start as u64, range.len() as u32);
            m.check_shared_written(address, range)?;
            m.observe(Space::Shared, pc, address, bytes, kind)?;
        }
        Some(())
    }

    #[inline(always)]
    fn write(m: &mut Machine<'_>, pc: u32, range: Range<usize>, kind: AccessKind) -> Option<()> {
        if m.block.watched {
            let (address, bytes) = (range.start as u64, range.len() as u32);
            m.block.mark_shared_written(range);
            m.observe(Space::Shared, pc, address, bytes, kind)?;
        }
        Some(())
    }
}

impl Bytes for Local {
    const SPACE: Space = Space::Local;

    #[inline(always)]
    fn bytes<'m>(m: &'m mut Machine<'_>) -> &'m mut Vec<u8> {
        &mut m.thread.local
    }
}

impl Bytes for Frame {
    const SPACE: Space = Space::Local;

    #[inline(always)]
    fn bytes<'m>(m: &'m mut Machine<'_>) -> &'m mut Vec<u8> {
        &mut m.thread.local
    }

    #[inline(always)]
    fn place(m: &Machine<'_>, address: u64) -> u64 {
        u64::from(m.thread.base).wrapping_add(address)
    }
}

impl Area for Param {
    #[inline(always)]
    fn load<W: Word>(m: &mut Machine<'_>, _: u32, address: u64, _: AccessKind) -> Option<W> {
        let parameters = &m.grid.parameters;
        let range = locate::<W>(m, Space::Param, address, parameters.len(), false)?;
        Some(W::read(&m.grid.parameters[range]))
    }

    fn store<W: Word>(
        m: &mut Machine<'_>,
        _: u32,
        address: u64,
        _: W,
        _: AccessKind,
    ) -> Option<()> {
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
