//! Panics of kernels: the first panic of a launch fills the launch's record for the host, and each panic
//! ends its thread.
//!
//! The compiler replaces the panics of `core` by calls of these functions.

#[cfg(kernelmill)]
mod device;
#[cfg(any(kernelmill, test))]
mod write;

/// Bytes of message text that a record holds.
pub const MESSAGE_BYTES: usize = 200;

/// The record of a launch's first panic, with the layout of `kernelmill_artifact::PanicRecord`.
#[derive(Debug)]
#[repr(C)]
pub struct PanicRecord {
    /// The number of panics that it has had, twice; odd while one is being written.
    pub state: u32,
    /// Bytes used in `message`.
    pub message_len: u32,
    /// A code of `kernelmill_artifact::PanicKind` in the low 8 bits; above them the message's index in
    /// the artifact's table plus 1.
    pub kind: u32,
    /// Index into the artifact's table of source locations; [`u32::MAX`]: unknown.
    pub location: u32,
    /// First number of the message, by kind.
    pub a: u64,
    /// Second number of the message, by kind.
    pub b: u64,
    /// Block index of the thread, x, y, z.
    pub block: [u32; 3],
    /// Index of the thread in its block, x, y, z.
    pub thread: [u32; 3],
    /// The message in UTF-8, or the values of a message of the artifact's table.
    pub message: [u8; MESSAGE_BYTES],
    /// The state of the last panic that the host has read; the record is free while the two are equal.
    pub acknowledged: u32,
    /// 0.
    pub reserved: u32,
    /// The number of the last launch that panicked.
    pub launch: u64,
    /// The address of what the blocks of cooperative launches synchronise by; 0 where there have been none.
    pub workspace: u64,
    /// The address of the memory for what kernels print, where the host formats that.
    pub printed: u64,
}

const _: () = assert!(size_of::<PanicRecord>() == 288);
