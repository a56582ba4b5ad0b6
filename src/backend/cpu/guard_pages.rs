//! Guard pages: memory with pages beside it that cannot be touched, as in
//! [Electric Fence](https://linux.die.net/man/3/efence).
//!
//! `KERNELMILL_GUARD_PAGES=after` lets each buffer end at such a page, `before` lets it begin behind one. What is
//! freed cannot be touched either, and its addresses are not used again for a while. Guaranteed: an access by a
//! kernel on that side of a buffer, or to a buffer that was freed, ends the process with `SIGSEGV`.

use std::ptr::NonNull;

/// On which side of memory the page that cannot be touched is without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// In front of the first byte.
    Before,
    /// Behind the last byte.
    After,
}

impl Placement {
    /// What a name has to be.
    pub(super) const EXPECTED: &'static str = "`before` or `after`, on Linux or macOS";

    /// The placement with this name, where the operating system has guard pages.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name {
            "before" if system::IS_SUPPORTED => Some(Self::Before),
            "after" if system::IS_SUPPORTED => Some(Self::After),
            _ => None,
        }
    }
}

/// A multiple of the page size of every supported processor.
const PAGE: usize = 64 << 10;

/// Memory between two guard pages, all zero at first.
#[derive(Debug)]
pub(super) struct Guarded {
    region: system::Region,
    pointer: NonNull<u8>,
}

// SAFETY: it owns its memory, and does not read or write it.
unsafe impl Send for Guarded {}
// SAFETY: as above.
unsafe impl Sync for Guarded {}

impl Guarded {
    /// `bytes` bytes, more than 0, aligned to a power of two of at most a page; `None` where there is not as
    /// much memory.
    pub(super) fn new(bytes: usize, align: usize, placement: Placement) -> Option<Self> {
        debug_assert!(align.is_power_of_two() && align <= PAGE);
        let inner = bytes.checked_next_multiple_of(PAGE)?;
        let region = system::Region::new(inner)?;
        let start = match placement {
            Placement::Before => 0,
            Placement::After => (inner - bytes) & !(align - 1),
        };
        // SAFETY: the bytes from `start` on are within the region.
        let pointer = unsafe { region.usable().add(start) };
        Some(Self { region, pointer })
    }

    pub(super) fn pointer(&self) -> *mut u8 {
        self.pointer.as_ptr()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: whoever owns this uses the memory no more.
        unsafe { self.region.retire() }
    }
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod system {
    use std::{
        collections::VecDeque,
        ffi::{c_int, c_void},
        ptr::{NonNull, null_mut},
        sync::{Mutex, PoisonError},
    };

    use super::PAGE;

    pub(super) const IS_SUPPORTED: bool = true;

    // POSIX's functions, which std links already.
    unsafe extern "C" {
        fn mmap(
            at: *mut c_void,
            len: usize,
            how: c_int,
            flags: c_int,
            file: c_int,
            offset: i64,
        ) -> *mut c_void;
        fn mprotect(at: *mut c_void, len: usize, how: c_int) -> c_int;
        fn munmap(at: *mut c_void, len: usize) -> c_int;
    }

    const NONE: c_int = 0;
    const READ_AND_WRITE: c_int = 3;
    const PRIVATE: c_int = 2;
    const FIXED: c_int = 16;
    const ANONYMOUS: c_int = if cfg!(target_os = "linux") { 0x20 } else { 0x1000 };

    /// The address that `mmap` gives where it fails.
    const FAILED: usize = usize::MAX;

    /// Freed regions that stay where they are, untouchable: the last ones, up to this many.
    const RETIRED: usize = 4096;

    /// Their addresses and lengths, the oldest first.
    static RETIRED_REGIONS: Mutex<VecDeque<(usize, usize)>> = Mutex::new(VecDeque::new());

    /// Pages that can be touched, with some that cannot on both sides.
    #[derive(Debug)]
    pub(super) struct Region {
        start: NonNull<u8>,
        bytes: usize,
    }

    impl Region {
        /// `inner` bytes, a multiple of [`PAGE`], between guard pages.
        pub(super) fn new(inner: usize) -> Option<Self> {
            // One page more than the guards take, since the system aligns to its own pages.
            let bytes = inner.checked_add(3 * PAGE)?;
            // SAFETY: new pages wherever there is room.
            let start = unsafe { mmap(null_mut(), bytes, NONE, PRIVATE | ANONYMOUS, -1, 0) };
            if start.addr() == FAILED {
                return None;
            }
            let region = Self { start: NonNull::new(start.cast())?, bytes };
            // SAFETY: the pages are of the region, and nobody uses them yet.
            let set = unsafe { mprotect(region.usable().as_ptr().cast(), inner, READ_AND_WRITE) };
            if set != 0 {
                // SAFETY: nobody uses the region.
                unsafe { region.retire() };
                return None;
            }
            Some(region)
        }

        /// The first byte that can be touched, at a multiple of [`PAGE`].
        pub(super) fn usable(&self) -> NonNull<u8> {
            let address = self.start.as_ptr().addr();
            let skipped = (address + 1).next_multiple_of(PAGE) - address;
            // SAFETY: there are three pages more than can be touched.
            unsafe { self.start.add(skipped) }
        }

        /// Gives the memory back, and keeps the addresses for a while.
        ///
        /// # Safety
        ///
        /// Nobody uses the region after this.
        pub(super) unsafe fn retire(&self) {
            let (start, flags) = (self.start.as_ptr().cast(), PRIVATE | ANONYMOUS | FIXED);
            // SAFETY: pages of this region alone, which nobody uses, are replaced.
            unsafe { mmap(start, self.bytes, NONE, flags, -1, 0) };
            let mut retired = RETIRED_REGIONS.lock().unwrap_or_else(PoisonError::into_inner);
            retired.push_back((start.expose_provenance(), self.bytes));
            if retired.len() > RETIRED
                && let Some((start, bytes)) = retired.pop_front()
            {
                // SAFETY: a region that was retired, and is not in the list any more.
                unsafe { munmap(std::ptr::with_exposed_provenance_mut(start), bytes) };
            }
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod system {
    use std::{convert::Infallible, ptr::NonNull};

    pub(super) const IS_SUPPORTED: bool = false;

    /// There are none here.
    #[derive(Debug)]
    pub(super) struct Region(Infallible);

    impl Region {
        pub(super) fn new(_inner: usize) -> Option<Self> {
            None
        }

        pub(super) fn usable(&self) -> NonNull<u8> {
            match self.0 {}
        }

        /// # Safety
        ///
        /// None is needed: there are no regions.
        pub(super) unsafe fn retire(&self) {
            match self.0 {}
        }
    }
}

#[cfg(all(test, any(target_os = "linux", target_os = "macos"), not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn memory_is_flush_with_its_side_and_aligned() {
        for placement in [Placement::Before, Placement::After] {
            for (bytes, align) in [(1, 1), (4, 4), (100, 4), (PAGE, 128), (PAGE + 128, 128)] {
                let memory = Guarded::new(bytes, align, placement).unwrap();
                let (start, end) = (memory.pointer().addr(), memory.pointer().addr() + bytes);
                assert!(start.is_multiple_of(align));
                let flush = if placement == Placement::Before { start } else { end };
                assert!(flush.is_multiple_of(PAGE), "{placement:?}, {bytes} bytes");
                // SAFETY: all bytes are the test's own.
                let all = unsafe { std::slice::from_raw_parts_mut(memory.pointer(), bytes) };
                assert!(all.iter().all(|byte| *byte == 0));
                all.fill(7);
            }
        }
    }

    #[test]
    fn addresses_of_freed_memory_are_not_used_again_at_once() {
        let first = Guarded::new(64, 64, Placement::After).unwrap();
        let address = first.pointer().addr();
        drop(first);
        let others: Vec<_> = (0..50).map(|_| Guarded::new(64, 64, Placement::After)).collect();
        assert!(others.iter().flatten().all(|memory| memory.pointer().addr() != address));
    }

    #[test]
    fn more_than_there_is_cannot_be_had() {
        assert!(Guarded::new(usize::MAX, 1, Placement::After).is_none());
        assert!(Guarded::new(1 << 60, 1, Placement::After).is_none());
    }
}
