//! A count of the memory that the program holds, by which leaks are seen: wgpu keeps what it has of a module there.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
};

static HELD: AtomicUsize = AtomicUsize::new(0);

/// The bytes that are allocated now.
pub(crate) fn held() -> usize {
    HELD.load(Ordering::SeqCst)
}

struct Counted;

#[global_allocator]
static ALLOCATOR: Counted = Counted;

// SAFETY: the system's allocator does it all; the default methods call these two.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Ordering::SeqCst);
        // SAFETY: as promised to this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: as promised to this function.
        unsafe { System.dealloc(memory, layout) }
    }
}
