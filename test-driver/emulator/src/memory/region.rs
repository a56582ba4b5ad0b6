//! Regions: the memory of one allocation, and windows into it that a running thread keeps.

use super::word::Word;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One allocation.
pub(crate) struct Region {
    base: u64,
    bytes: u64,
    pointer: *mut u8,
    writable: bool,
    /// Keeps the memory that `pointer` is into, unless it is the caller's.
    _storage: Option<Box<[AtomicU64]>>,
}

// SAFETY: the memory is reached through atomic operations only (see `Window` and `Region::copy_*`),
// and lives as long as the region.
unsafe impl Send for Region {}
// SAFETY: as for `Send`.
unsafe impl Sync for Region {}

impl Region {
    /// Memory of the emulator's own, filled with `fill`; `None` where the host has not as much.
    pub(crate) fn new(base: u64, bytes: u64, fill: u8, writable: bool) -> Option<Region> {
        let words = usize::try_from(bytes.div_ceil(8).max(1)).ok()?;
        let storage = zeroed(words)?;
        if fill != 0 {
            let pattern = u64::from_ne_bytes([fill; 8]);
            storage.iter().for_each(|word| word.store(pattern, Ordering::Relaxed));
        }
        let pointer = storage.as_ptr().cast_mut().cast();
        Some(Region { base, bytes, pointer, writable, _storage: Some(storage) })
    }

    /// Memory of the host, at its own address.
    ///
    /// # Safety
    /// `pointer` is valid for reads and writes of `bytes` bytes as long as the region is known to a
    /// device, and nobody holds references into it while kernels run.
    pub(crate) unsafe fn of_host(pointer: *mut u8, bytes: u64) -> Region {
        Region { base: pointer as u64, bytes, pointer, writable: true, _storage: None }
    }

    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn is_of_host(&self) -> bool {
        self._storage.is_none()
    }

    pub(crate) fn contains(&self, address: u64, bytes: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset <= self.bytes && bytes <= self.bytes - offset
    }

    /// Copies out of the region; `address` and the length must lie in it.
    pub(crate) fn read(&self, address: u64, out: &mut [u8]) {
        self.transfer(address, out.len(), |part, at| match part.wide {
            true => part.load::<u64>().write(&mut out[at..]),
            false => out[at] = part.load::<u8>(),
        });
    }

    /// Copies into the region; `address` and the length must lie in it.
    pub(crate) fn write(&self, address: u64, data: &[u8]) {
        self.transfer(address, data.len(), |part, at| match part.wide {
            true => part.store(u64::read(&data[at..])),
            false => part.store(data[at]),
        });
    }

    /// Sets bytes of the region; `address` and the length must lie in it.
    pub(crate) fn fill(&self, address: u64, bytes: usize, value: u8) {
        self.transfer(address, bytes, |part, _| match part.wide {
            true => part.store(u64::from_ne_bytes([value; 8])),
            false => part.store(value),
        });
    }

    /// Calls `step` with the words and single bytes of a range, and their place in it.
    fn transfer(&self, address: u64, bytes: usize, mut step: impl FnMut(Part, usize)) {
        assert!(self.contains(address, bytes as u64), "the caller has checked the range");
        let start = self.pointer.wrapping_add((address - self.base) as usize);
        let mut at = 0;
        while at < bytes {
            let pointer = start.wrapping_add(at);
            let wide = pointer.addr().is_multiple_of(8) && bytes - at >= 8;
            step(Part { pointer, wide }, at);
            at += if wide { 8 } else { 1 };
        }
    }
}

/// Words that are zero, which cost the host nothing before they are touched.
fn zeroed(words: usize) -> Option<Box<[AtomicU64]>> {
    let layout = std::alloc::Layout::array::<AtomicU64>(words).ok()?;
    assert!(words > 0);
    // SAFETY: the layout is not empty.
    let pointer = unsafe { std::alloc::alloc_zeroed(layout) }.cast::<AtomicU64>();
    let slice = std::ptr::slice_from_raw_parts_mut(NonNull::new(pointer)?.as_ptr(), words);
    // SAFETY: the memory comes from the allocator that boxes use, with the layout of the slice, and zero
    // bytes are valid for an atomic number.
    Some(unsafe { Box::from_raw(slice) })
}

/// A byte of a region, or eight aligned ones. Only `Region::transfer` makes it.
struct Part {
    pointer: *mut u8,
    wide: bool,
}

impl Part {
    fn load<W: Word>(&self) -> W {
        assert!(W::BYTES == 1 || self.wide);
        // SAFETY: `transfer` has checked that as many bytes lie in the region and are aligned.
        unsafe { W::load(self.pointer) }
    }

    fn store<W: Word>(&self, value: W) {
        assert!(W::BYTES == 1 || self.wide);
        // SAFETY: as in `load`.
        unsafe { value.store(self.pointer) }
    }
}

/// A region as a running thread sees it: a cache of where the last access of an instruction went.
#[derive(Clone)]
pub(crate) struct Window {
    base: u64,
    bytes: u64,
    pointer: *mut u8,
    writable: bool,
    /// Keeps the memory that `pointer` is into.
    _region: Option<Arc<Region>>,
}

// SAFETY: the pointer is into `_region`, which is `Send`.
unsafe impl Send for Window {}

impl Default for Window {
    fn default() -> Self {
        Window { base: 0, bytes: 0, pointer: std::ptr::null_mut(), writable: false, _region: None }
    }
}

/// Some words in device memory, checked for bounds and alignment.
pub(crate) struct Words<'a, W> {
    pointer: *mut u8,
    count: u32,
    window: std::marker::PhantomData<(&'a Window, W)>,
}

impl Window {
    pub(crate) fn new(region: Arc<Region>) -> Window {
        Window {
            base: region.base,
            bytes: region.bytes,
            pointer: region.pointer,
            writable: region.writable,
            _region: Some(region),
        }
    }

    pub(crate) fn writable(&self) -> bool {
        self.writable
    }

    /// The words at an address that is a multiple of their length, if they all lie in the region.
    #[inline(always)]
    pub(crate) fn words<W: Word>(&self, address: u64, count: u32) -> Option<Words<'_, W>> {
        let offset = address.wrapping_sub(self.base);
        let bytes = u64::from(W::BYTES * count);
        if offset >= self.bytes || bytes > self.bytes - offset {
            return None;
        }
        let pointer = self.pointer.wrapping_add(offset as usize);
        if pointer.addr() & (W::BYTES as usize - 1) != 0 {
            return None;
        }
        Some(Words { pointer, count, window: std::marker::PhantomData })
    }
}

impl<W: Word> Words<'_, W> {
    #[inline(always)]
    fn at(&self, index: u32) -> *mut u8 {
        assert!(index < self.count);
        self.pointer.wrapping_add((index * W::BYTES) as usize)
    }

    #[inline(always)]
    pub(crate) fn load(&self, index: u32) -> W {
        // SAFETY: `Window::words` has checked bounds and alignment, and the window keeps the region.
        unsafe { W::load(self.at(index)) }
    }

    #[inline(always)]
    pub(crate) fn store(&self, index: u32, value: W) {
        // SAFETY: as in `load`.
        unsafe { value.store(self.at(index)) }
    }

    /// Replaces the first word as one step; gives the register it was.
    pub(crate) fn update(&self, change: &mut dyn FnMut(u64) -> u64) -> u64 {
        // SAFETY: as in `load`.
        unsafe { W::update(self.at(0), change) }
    }
}
