//! The generic address space: a window for each state space, device memory behind them.
//!
//! PTX ISA, "Generic Addressing". Device memory has the generic address it has in `.global`, as PTX
//! demands; where the other windows lie is up to the implementation.

/// Generic addresses of shared memory start here.
pub(crate) const SHARED_BASE: u64 = 0x0100_0000_0000;
/// Generic addresses of local memory start here.
pub(crate) const LOCAL_BASE: u64 = 0x0101_0000_0000;
/// Generic addresses of kernel arguments start here.
pub(crate) const PARAM_BASE: u64 = 0x0102_0000_0000;
/// Addresses of functions start here; they are 16 apart.
pub(crate) const CODE_BASE: u64 = 0x0103_0000_0000;
/// Length of each of these windows.
pub(crate) const WINDOW_BYTES: u64 = 1 << 32;
/// The first address that an allocation can have.
pub(crate) const GLOBAL_BASE: u64 = 0x0200_0000_0000;

/// An address of shared or local memory as devices take it, of 32 bits: a sum of a register of 32 bits
/// and an offset wraps. Other addresses past 32 bits stay what they are: they are generic ones by mistake.
pub(crate) fn wrap_narrow(address: u64) -> u64 {
    let upper = (address >> 32) as u32;
    if matches!(upper, 1 | u32::MAX) { address & 0xffff_ffff } else { address }
}
