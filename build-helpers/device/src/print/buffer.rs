//! The output buffer of devices that have no `printf` of their own.

/// Bytes of entries that [`Buffer`] holds.
pub const BUFFER_BYTES: usize = (1 << 16) - 8;

/// Entries that a device keeps for the host. All bytes are zero at first.
#[derive(Debug)]
#[repr(C)]
pub struct Buffer {
    /// Bytes that entries have requested; those past [`BUFFER_BYTES`] are lost.
    pub asked: u32,
    /// The number of lost lines.
    pub lost: u32,
    /// The entries.
    pub text: [u8; BUFFER_BYTES],
}
