//! Arenas: the memory that blocks run in, one set for each thread of the host.
//!
//! Kept between launches, unless there are guard pages beside them. Guaranteed: a launch like the one before
//! it on a thread allocates nothing, and memory that there is not is an error.

use std::{
    alloc::{Layout, alloc, alloc_zeroed, dealloc},
    cell::Cell,
    ptr::NonNull,
};

use kernelmill_artifact::PanicRecord;

use super::{
    available::Share,
    guard_pages::{Guarded, Placement},
    stack,
};
use crate::embedded::abi::{Block, Item};

/// Arenas of more bytes than this are not kept.
const KEPT_BYTES: usize = 8 << 20;

/// Bytes on the heap, aligned.
#[derive(Debug)]
pub(super) struct Aligned {
    pointer: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it owns its memory, and does not read or write it.
unsafe impl Send for Aligned {}
// SAFETY: as above.
unsafe impl Sync for Aligned {}

impl Aligned {
    /// `bytes` bytes, more than 0; `None` if there is not as much memory.
    pub(super) fn new(bytes: usize, align: usize, zeroed: bool) -> Option<Self> {
        let layout = Layout::from_size_align(bytes, align).ok()?;
        assert!(bytes > 0, "an allocation has bytes");
        // SAFETY: the size is not zero.
        let pointer = unsafe { if zeroed { alloc_zeroed(layout) } else { alloc(layout) } };
        NonNull::new(pointer).map(|pointer| Self { pointer, layout })
    }

    pub(super) fn pointer(&self) -> *mut u8 {
        self.pointer.as_ptr()
    }
}

impl Drop for Aligned {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and freed once.
        unsafe { dealloc(self.pointer.as_ptr(), self.layout) }
    }
}

/// Memory of at least the size that was last asked for.
#[derive(Debug)]
enum Grown {
    Heap(Option<(Aligned, Share)>),
    /// Of just that size, beside a guard page.
    Guarded(Placement, Option<(Guarded, Share)>),
}

/// A block needs this many bytes, and they cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lacking(pub(super) usize);

impl Grown {
    fn new(guard_pages: Option<Placement>) -> Self {
        guard_pages.map_or(Self::Heap(None), |placement| Self::Guarded(placement, None))
    }

    /// Memory of `bytes` bytes, aligned; what it contains is not defined.
    fn reserve(&mut self, bytes: usize, align: usize) -> Result<*mut u8, Lacking> {
        let kept = match self {
            Self::Heap(kept) => kept,
            Self::Guarded(placement, kept) => {
                *kept = None;
                let share = Share::take(bytes).ok_or(Lacking(bytes))?;
                let memory = Guarded::new(bytes.max(1), align, *placement);
                return Ok(kept.insert((memory.ok_or(Lacking(bytes))?, share)).0.pointer());
            }
        };
        if let Some((memory, _)) = kept
            && memory.layout.size() >= bytes
            && memory.layout.align() >= align
        {
            return Ok(memory.pointer());
        }
        *kept = None;
        // What is not kept has no use for room to grow.
        let size = if bytes > KEPT_BYTES { bytes } else { bytes.max(1).next_power_of_two() };
        let share = Share::take(size).ok_or(Lacking(bytes))?;
        let memory = Aligned::new(size, align, true).ok_or(Lacking(bytes))?;
        Ok(kept.insert((memory, share)).0.pointer())
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Heap(kept) => kept.as_ref().map_or(0, |(memory, _)| memory.layout.size()),
            Self::Guarded(..) => 0,
        }
    }
}

/// What a thread needs to run blocks.
#[derive(Debug)]
pub(super) struct Arena {
    block: Block,
    /// That of a launch of one block: it is empty whenever no such launch runs.
    pub(super) record: PanicRecord,
    shared: Grown,
    frames: Grown,
    items: Vec<Item>,
}

thread_local! {
    static ARENA: Cell<Option<Box<Arena>>> = const { Cell::new(None) };
}

/// The calling thread's arena, until this is dropped. A second one on the same thread, for a
/// launch inside another, is allocated for it, and so is one with guard pages.
pub(super) struct Lease {
    arena: Option<Box<Arena>>,
    is_kept: bool,
}

impl Lease {
    pub(super) fn take(guard_pages: Option<Placement>) -> Self {
        let is_kept = guard_pages.is_none();
        let kept = if is_kept { ARENA.try_with(Cell::take).unwrap_or_default() } else { None };
        Self { arena: Some(kept.unwrap_or_else(|| Box::new(Arena::new(guard_pages)))), is_kept }
    }

    pub(super) fn arena(&mut self) -> &mut Arena {
        self.arena.as_mut().expect("there until the drop")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let arena = self.arena.take().filter(|_| self.is_kept);
        if arena.as_ref().is_some_and(|arena| arena.bytes() <= KEPT_BYTES) {
            // While the thread ends there is nothing to give it back to.
            let _ = ARENA.try_with(|kept| kept.set(arena));
        }
    }
}

/// The most bytes that so many threads and their coroutines of `stride` bytes take in an arena of their own.
pub(super) fn frame_bytes(threads: usize, stride: usize) -> usize {
    threads.saturating_mul(stride.saturating_mul(2).saturating_add(size_of::<Item>()))
}

impl Arena {
    pub(super) fn new(guard_pages: Option<Placement>) -> Self {
        let block = Block {
            index: [0; 3],
            reserved: 0,
            geometry: std::ptr::null(),
            shared: std::ptr::null_mut(),
            panic: std::ptr::null_mut(),
            scratch: std::ptr::null_mut(),
            jump: [0; 64],
            stack_limit: stack::limit(),
            stack_overflow: Some(stack::overflow),
        };
        let grown = || Grown::new(guard_pages);
        let record = PanicRecord::EMPTY;
        Self { block, record, shared: grown(), frames: grown(), items: Vec::new() }
    }

    /// The block, with shared memory of `bytes` bytes, and `scratch` bytes for what it keeps
    /// between barriers; valid until the next call.
    pub(super) fn block(&mut self, bytes: usize, scratch: usize) -> Result<*mut Block, Lacking> {
        self.block.shared = self.shared.reserve(bytes, 128)?;
        if scratch > 0 {
            self.block.scratch = self.frames.reserve(scratch, 64)?;
        }
        Ok(&raw mut self.block)
    }

    /// Room for `threads` threads, and for as many coroutines of `stride` bytes.
    pub(super) fn threads(
        &mut self,
        threads: usize,
        stride: usize,
        align: usize,
    ) -> Result<(*mut Item, *mut u8), Lacking> {
        self.items.clear();
        let lacking = |_| Lacking(threads.saturating_mul(size_of::<Item>()));
        self.items.try_reserve(threads).map_err(lacking)?;
        let frames = self.frames.reserve(threads.saturating_mul(stride), align.max(64))?;
        Ok((self.items.as_mut_ptr(), frames))
    }

    fn bytes(&self) -> usize {
        self.shared.bytes() + self.frames.bytes() + self.items.capacity() * size_of::<Item>()
    }
}
