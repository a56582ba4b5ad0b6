//! Host memory.

use super::arena::Aligned;
use crate::{
    Error, Result,
    backend::{self, Guard, StreamRef},
    fault::FaultSlot,
};

/// The alignment of buffers, in bytes: a cache line pair, and more than any vector has.
const ALIGN: usize = 128;

pub(super) struct Memory {
    bytes: Aligned,
    /// Of the launches that used it.
    fault: FaultSlot,
}

impl Memory {
    /// `bytes` bytes, more than 0, for the device `device`.
    pub(super) fn new(device: &str, bytes: usize, zeroed: bool) -> Result<Self> {
        Aligned::new(bytes, ALIGN, zeroed)
            .map(|bytes| Self { bytes, fault: FaultSlot::default() })
            .ok_or_else(|| Error::OutOfMemory { device: device.to_owned(), bytes })
    }
}

impl backend::Memory for Memory {
    unsafe fn read(&self, offset: usize, target: *mut u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller promises both ranges, and launches have run when they return.
        unsafe { std::ptr::copy_nonoverlapping(self.bytes.pointer().add(offset), target, bytes) };
        self.fault.report()
    }

    unsafe fn write(&mut self, offset: usize, source: *const u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller promises both ranges.
        unsafe { std::ptr::copy_nonoverlapping(source, self.bytes.pointer().add(offset), bytes) };
        Ok(())
    }

    fn address(&self) -> u64 {
        self.bytes.pointer() as u64
    }

    fn hold_read<'a>(&'a self, _stream: StreamRef<'a>) -> Result<(u64, Guard<'a>)> {
        Ok((self.bytes.pointer() as u64, Guard::Host(&self.fault)))
    }

    fn hold_write<'a>(&'a mut self, _stream: StreamRef<'a>) -> Result<(u64, Guard<'a>)> {
        Ok((self.bytes.pointer() as u64, Guard::Host(&self.fault)))
    }
}
