//! Areas: the parts of memory that loads and stores name, behind one trait.

use crate::execute::machine::Machine;
use crate::launch::{FaultKind, Space};
use crate::memory::{AccessKind, Word};

/// A part of memory that an instruction names. `None` means that the thread has faulted.
pub(crate) trait Area {
    fn load<W: Word>(m: &mut Machine<'_>, pc: u32, address: u64, kind: AccessKind) -> Option<W>;
    fn store<W: Word>(
        m: &mut Machine<'_>,
        pc: u32,
        address: u64,
        value: W,
        kind: AccessKind,
    ) -> Option<()>;
    /// Replaces a word in one step and gives the register it was.
    fn update<W: Word>(
        m: &mut Machine<'_>,
        pc: u32,
        address: u64,
        change: &mut dyn FnMut(u64) -> u64,
    ) -> Option<u64>;
}

#[cold]
pub(super) fn misaligned(
    m: &mut Machine<'_>,
    space: Space,
    address: u64,
    bytes: u32,
) -> Option<()> {
    m.fail(FaultKind::Misaligned { space, address, bytes });
    None
}

/// Whether an address is a multiple of `bytes`, a power of two.
#[inline(always)]
pub(super) fn check_alignment(
    m: &mut Machine<'_>,
    space: Space,
    address: u64,
    bytes: u32,
) -> Option<()> {
    if address & u64::from(bytes - 1) == 0 {
        return Some(());
    }
    misaligned(m, space, address, bytes)
}
