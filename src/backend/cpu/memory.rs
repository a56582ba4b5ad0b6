//! CPU memory: buffers on the host's heap, aligned for vectors and spread over pages.
//!
//! With guard pages buffers are pages of their own instead, aligned as far as their number of bytes lets
//! them. Guaranteed: memory that a launch may use for ever is neither used by the host nor freed.

use std::{
    mem::ManuallyDrop,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{
    arena::Aligned,
    guard_pages::{Guarded, Placement},
};
use crate::{
    error::{Error, Result},
    hal::{self, ErrorSlot, Guard, StreamRef},
};

/// The alignment of buffers, in bytes: a cache line pair, and more than any vector has.
const ALIGN: usize = 128;

/// The bytes of addresses in which processors compare a load with the stores before it: where these are
/// the same, the load waits. Large allocations all start at the same place of a page, so that a
/// kernel which reads one buffer and writes another at the same index would wait each time.
const PAGE: usize = 4096;

/// Buffers of this many bytes start at different places of a page, 512 bytes apart or more, eight in turn.
const LARGE: usize = 16 * PAGE;

/// The places come in an order in which buffers made one after the other are far apart.
const STEP: usize = 5 * PAGE / 8;

/// How many large buffers have been made.
static MADE: AtomicUsize = AtomicUsize::new(0);

/// Memory that launches may use for ever.
static LOST: Mutex<Vec<Block>> = Mutex::new(Vec::new());

pub(in crate::backend) struct Memory {
    block: ManuallyDrop<Block>,
    /// Where in the block the buffer starts.
    start: usize,
    /// Of the launches that used it.
    errors: ErrorSlot,
}

/// Memory for copies, which are done when they return.
pub(in crate::backend) struct HostMemory(Aligned);

/// Where the bytes are.
enum Block {
    Heap(Aligned),
    Guarded(Guarded),
}

impl Memory {
    /// `bytes` bytes, more than 0, for the device `device`, beside a guard page where one is asked for.
    pub(super) fn new(
        device: &str,
        bytes: usize,
        zeroed: bool,
        guard_pages: Option<Placement>,
    ) -> Result<Self> {
        match guard_pages {
            None => Self::on_heap(device, bytes, zeroed),
            Some(placement) => Self::guarded(device, bytes, placement),
        }
    }

    /// Memory whose first byte follows a guard page, or whose last byte is followed by one.
    fn guarded(device: &str, bytes: usize, placement: Placement) -> Result<Self> {
        // The number of bytes is a multiple of an element's, and that of its alignment.
        let align = ALIGN.min(1 << bytes.trailing_zeros());
        let memory = Guarded::new(bytes, align, placement)
            .ok_or_else(|| Error::OutOfMemory { device: device.to_owned(), bytes })?;
        let block = ManuallyDrop::new(Block::Guarded(memory));
        Ok(Self { block, start: 0, errors: ErrorSlot::default() })
    }

    /// Plain memory of the host, all zero.
    pub(in crate::backend) fn of_host(device: &str, bytes: usize) -> Result<HostMemory> {
        let memory = Aligned::new(bytes, ALIGN, true);
        let lacking = || Error::OutOfMemory { device: device.to_owned(), bytes };
        memory.map(HostMemory).ok_or_else(lacking)
    }

    fn on_heap(device: &str, bytes: usize, zeroed: bool) -> Result<Self> {
        let is_large = bytes >= LARGE;
        let all = if is_large { bytes.saturating_add(PAGE) } else { bytes };
        let memory = Aligned::new(all, ALIGN, zeroed)
            .ok_or_else(|| Error::OutOfMemory { device: device.to_owned(), bytes })?;
        let start = if is_large {
            let place = MADE.fetch_add(1, Ordering::Relaxed).wrapping_mul(STEP) % PAGE;
            place.wrapping_sub(memory.pointer() as usize) % PAGE
        } else {
            0
        };
        let block = ManuallyDrop::new(Block::Heap(memory));
        Ok(Self { block, start, errors: ErrorSlot::default() })
    }

    fn pointer(&self) -> *mut u8 {
        let pointer = match &*self.block {
            Block::Heap(memory) => memory.pointer(),
            Block::Guarded(memory) => memory.pointer(),
        };
        // SAFETY: there are at least as many bytes before the buffer's.
        unsafe { pointer.add(self.start) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it is taken here alone, and not used after this.
        let block = unsafe { ManuallyDrop::take(&mut self.block) };
        if self.errors.is_lost() {
            LOST.lock().unwrap_or_else(PoisonError::into_inner).push(block);
        }
    }
}

impl hal::Memory for Memory {
    unsafe fn read(&self, offset: usize, target: *mut u8, bytes: usize) -> Result<()> {
        self.errors.check()?;
        // SAFETY: the caller promises both ranges, and launches have run when they return, save those that
        // the check has found.
        unsafe { std::ptr::copy_nonoverlapping(self.pointer().add(offset), target, bytes) };
        self.errors.report()
    }

    unsafe fn write(&mut self, offset: usize, source: *const u8, bytes: usize) -> Result<()> {
        self.errors.check()?;
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(source, self.pointer().add(offset), bytes) };
        Ok(())
    }

    unsafe fn copy_to(
        &self,
        offset: usize,
        target: &mut dyn hal::HostMemory,
        target_offset: usize,
        bytes: usize,
        _stream: StreamRef<'_>,
    ) -> Result<()> {
        // SAFETY: both ranges are promised.
        unsafe { self.read(offset, target.pointer().add(target_offset), bytes) }
    }

    unsafe fn copy_from(
        &mut self,
        offset: usize,
        source: &dyn hal::HostMemory,
        source_offset: usize,
        bytes: usize,
        _stream: StreamRef<'_>,
    ) -> Result<()> {
        // SAFETY: as above.
        unsafe { self.write(offset, source.pointer().add(source_offset), bytes) }
    }

    fn address(&self) -> u64 {
        self.pointer() as u64
    }

    fn hold_read<'a>(&'a self, _stream: &StreamRef<'a>, guard: &mut Guard<'a>) -> Result<u64> {
        self.errors.check()?;
        *guard = Guard::Errors(&self.errors);
        Ok(self.pointer() as u64)
    }

    fn hold_write<'a>(&'a mut self, _stream: &StreamRef<'a>, guard: &mut Guard<'a>) -> Result<u64> {
        self.errors.check()?;
        *guard = Guard::Errors(&self.errors);
        Ok(self.pointer() as u64)
    }
}

impl hal::HostMemory for HostMemory {
    fn pointer(&self) -> *mut u8 {
        self.0.pointer()
    }

    fn finish_write(&self) -> Result<()> {
        Ok(())
    }

    fn finish_all(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hal::Memory as _;

    #[test]
    fn large_buffers_start_at_places_of_a_page_that_are_far_apart() {
        let sizes = [LARGE, 3 * LARGE + 5, LARGE, 1 << 20, LARGE, 2 * LARGE];
        // Others may be made at the same time, by other tests.
        let mut all: Vec<_> = sizes
            .map(|bytes| Memory::new("here", bytes, true, None).unwrap())
            .into_iter()
            .collect();
        for (memory, bytes) in all.iter_mut().zip(sizes) {
            assert_eq!(memory.address() as usize % (PAGE / 8), 0);
            let (last, mut found) = ([7_u8], [0_u8]);
            // SAFETY: both ranges are of one byte, the last of the buffer.
            unsafe {
                memory.write(bytes - 1, last.as_ptr(), 1).unwrap();
                memory.read(bytes - 1, found.as_mut_ptr(), 1).unwrap();
            }
            assert_eq!(found, last);
        }
        let mut places: Vec<_> =
            all.iter().map(|memory| memory.address() as usize % PAGE).collect();
        places.sort_unstable();
        places.dedup();
        assert!(places.len() > 2, "{places:?}");
    }

    #[test]
    fn small_buffers_are_as_large_as_they_are() {
        let memory = Memory::new("here", LARGE - 1, false, None).unwrap();
        assert_eq!((memory.start, memory.address() as usize % ALIGN), (0, 0));
    }
    #[test]
    #[cfg(all(any(target_os = "linux", target_os = "macos"), not(miri)))]
    fn guarded_buffers_are_aligned_as_their_elements() {
        for bytes in [1, 12, 64, 100, 4096, 4100, LARGE + 8] {
            let mut memory = Memory::new("here", bytes, true, Some(Placement::After)).unwrap();
            let end = memory.address() as usize + bytes;
            assert!(end.is_multiple_of(PAGE), "{bytes}");
            let (last, mut found) = ([7_u8], [0_u8]);
            // SAFETY: both ranges are of one byte, the last of the buffer.
            unsafe {
                memory.write(bytes - 1, last.as_ptr(), 1).unwrap();
                memory.read(bytes - 1, found.as_mut_ptr(), 1).unwrap();
            }
            assert_eq!(found, last);
        }
    }
}
