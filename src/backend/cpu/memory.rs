//! CPU memory: buffers on the host's heap, aligned for vectors and spread over pages.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::arena::Aligned;
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

pub(super) struct Memory {
    bytes: Aligned,
    /// Where in these the buffer starts.
    start: usize,
    /// Of the launches that used it.
    errors: ErrorSlot,
}

impl Memory {
    /// `bytes` bytes, more than 0, for the device `device`.
    pub(super) fn new(device: &str, bytes: usize, zeroed: bool) -> Result<Self> {
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
        Ok(Self { bytes: memory, start, errors: ErrorSlot::default() })
    }

    fn pointer(&self) -> *mut u8 {
        // SAFETY: there are at least as many bytes before the buffer's.
        unsafe { self.bytes.pointer().add(self.start) }
    }
}

impl hal::Memory for Memory {
    unsafe fn read(&self, offset: usize, target: *mut u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller promises both ranges, and launches have run when they return.
        unsafe { std::ptr::copy_nonoverlapping(self.pointer().add(offset), target, bytes) };
        self.errors.report()
    }

    unsafe fn write(&mut self, offset: usize, source: *const u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller promises both ranges.
        unsafe { std::ptr::copy_nonoverlapping(source, self.pointer().add(offset), bytes) };
        Ok(())
    }

    fn address(&self) -> u64 {
        self.pointer() as u64
    }

    fn hold_read<'a>(&'a self, _stream: StreamRef<'a>) -> Result<(u64, Guard<'a>)> {
        Ok((self.pointer() as u64, Guard::Errors(&self.errors)))
    }

    fn hold_write<'a>(&'a mut self, _stream: StreamRef<'a>) -> Result<(u64, Guard<'a>)> {
        Ok((self.pointer() as u64, Guard::Errors(&self.errors)))
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
        let mut all: Vec<_> =
            sizes.map(|bytes| Memory::new("here", bytes, true).unwrap()).into_iter().collect();
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
        let memory = Memory::new("here", LARGE - 1, false).unwrap();
        assert_eq!((memory.start, memory.address() as usize % ALIGN), (0, 0));
    }
}
