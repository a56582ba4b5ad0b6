//! What a panic inside a kernel does: the first one of a launch is written down for the host, and
//! each ends its thread.
//!
//! The compiler replaces the panics of `core` by calls of the functions here.

#[cfg(kernelmill)]
mod device;
#[cfg(any(kernelmill, test))]
mod write;

/// Bytes of message text that a record holds.
pub const MESSAGE_BYTES: usize = 200;

/// The record of a launch's first panic, as `kernelmill_artifact::PanicRecord` has it for the host.
#[derive(Debug)]
#[repr(C)]
pub struct PanicRecord {
    /// 0: free, 1: being written, 2: complete.
    pub state: u32,
    /// Bytes used in `message`.
    pub message_len: u32,
    /// What happened: a code of `kernelmill_artifact::PanicKind`, and above its 8 bits 1 more than
    /// the index of the message among the artifact's.
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
    /// The message in UTF-8, or values of one of the artifact's messages.
    pub message: [u8; MESSAGE_BYTES],
}

const _: () = assert!(size_of::<PanicRecord>() == 256);
