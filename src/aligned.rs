//! Aligned memory: for elements that are aligned to more than what back ends allocate.
//!
//! A block that is larger than asked for, of which the part in use begins where the alignment wants it.

use crate::{
    device::Device,
    error::{Error, Result},
    hal::{Guard, HostMemory, Memory, StreamRef},
};

/// What every back end aligns memory to.
const BY_BACK_ENDS: usize = 128;

/// The part of a block that is aligned.
pub(crate) struct Aligned {
    block: Box<dyn Memory>,
    /// Bytes of the block before it.
    skipped: usize,
}

impl Aligned {
    /// Whether memory for these elements has to be this.
    pub(crate) const fn is_needed<T>() -> bool {
        align_of::<T>() > BY_BACK_ENDS
    }

    /// Memory of `bytes` bytes, more than 0, all zero, aligned for `T`.
    pub(crate) fn zeros<T>(device: &Device, bytes: usize) -> Result<Box<dyn Memory>> {
        let alignment = align_of::<T>();
        let Some(all) = bytes.checked_add(alignment - BY_BACK_ENDS) else {
            return Err(Error::OutOfMemory { device: device.name().to_owned(), bytes: usize::MAX });
        };
        let block = device.context().zeros(all)?;
        let address = block.address();
        let skipped = (address.next_multiple_of(alignment as u64) - address) as usize;
        debug_assert!(skipped + bytes <= all, "back ends align to {BY_BACK_ENDS} bytes");
        Ok(Box::new(Self { block, skipped }))
    }
}

impl Memory for Aligned {
    unsafe fn read(&self, offset: usize, target: *mut u8, bytes: usize) -> Result<()> {
        // SAFETY: as promised to this function; the part is within the block.
        unsafe { self.block.read(self.skipped + offset, target, bytes) }
    }

    unsafe fn write(&mut self, offset: usize, source: *const u8, bytes: usize) -> Result<()> {
        // SAFETY: as above.
        unsafe { self.block.write(self.skipped + offset, source, bytes) }
    }

    unsafe fn copy_to(
        &self,
        offset: usize,
        target: &mut dyn HostMemory,
        target_offset: usize,
        bytes: usize,
        stream: StreamRef<'_>,
    ) -> Result<()> {
        let offset = self.skipped + offset;
        // SAFETY: as above.
        unsafe { self.block.copy_to(offset, target, target_offset, bytes, stream) }
    }

    unsafe fn copy_from(
        &mut self,
        offset: usize,
        source: &dyn HostMemory,
        source_offset: usize,
        bytes: usize,
        stream: StreamRef<'_>,
    ) -> Result<()> {
        let offset = self.skipped + offset;
        // SAFETY: as above.
        unsafe { self.block.copy_from(offset, source, source_offset, bytes, stream) }
    }

    fn address(&self) -> u64 {
        self.block.address() + self.skipped as u64
    }

    fn hold_read<'a>(&'a self, stream: &StreamRef<'a>, guard: &mut Guard<'a>) -> Result<u64> {
        Ok(self.block.hold_read(stream, guard)? + self.skipped as u64)
    }

    fn hold_write<'a>(&'a mut self, stream: &StreamRef<'a>, guard: &mut Guard<'a>) -> Result<u64> {
        Ok(self.block.hold_write(stream, guard)? + self.skipped as u64)
    }
}
