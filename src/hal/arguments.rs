//! Owned arguments: copies of a launch's arguments, for a launch that may outlive the call that makes it.

use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    ptr::{self, NonNull},
};

/// Copies of device-level arguments, and pointers to them.
pub(crate) struct OwnedArguments {
    pointers: Vec<*const u8>,
    _copies: Vec<Copied>,
}

// SAFETY: the copies are only read, and they are this value's own.
unsafe impl Send for OwnedArguments {}
// SAFETY: as above.
unsafe impl Sync for OwnedArguments {}

/// Bytes on the heap.
struct Copied {
    pointer: NonNull<u8>,
    layout: Layout,
}

impl OwnedArguments {
    /// Copies of values, each given by its address and its number of bytes.
    ///
    /// # Safety
    ///
    /// The values can be read.
    pub(crate) unsafe fn copy(values: &[(*const u8, usize)]) -> Self {
        // SAFETY: promised.
        let copy = |&(value, bytes)| unsafe { Copied::new(value, bytes) };
        let copies: Vec<_> = values.iter().map(copy).collect();
        let pointers = copies.iter().map(|copy| copy.pointer.as_ptr().cast_const()).collect();
        Self { pointers, _copies: copies }
    }

    /// The pointers to the copies, in the order of the values.
    pub(crate) fn pointers(&self) -> &[*const u8] {
        &self.pointers
    }
}

impl Copied {
    /// A copy that is aligned as the value is, up to a page.
    ///
    /// # Safety
    ///
    /// `value` can be read for `bytes` bytes.
    unsafe fn new(value: *const u8, bytes: usize) -> Self {
        let align = 1 << value.addr().trailing_zeros().min(12);
        let layout = Layout::from_size_align(bytes.max(1), align).expect("as large as a value is");
        // SAFETY: the size is not zero.
        let memory = unsafe { alloc(layout) };
        let Some(pointer) = NonNull::new(memory) else { handle_alloc_error(layout) };
        // SAFETY: promised; the new memory has as many bytes.
        unsafe { ptr::copy_nonoverlapping(value, pointer.as_ptr(), bytes) };
        Self { pointer, layout }
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and freed once.
        unsafe { dealloc(self.pointer.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_aligned_as_the_values() {
        #[derive(Clone, Copy, PartialEq, Debug)]
        #[repr(align(512))]
        struct Wide([u8; 512]);
        let (wide, byte) = (Wide([7; 512]), 3_u8);
        let values = [(ptr::from_ref(&wide).cast(), 512), (ptr::from_ref(&byte), 1)];
        // SAFETY: both are there.
        let copies = unsafe { OwnedArguments::copy(&values) };
        let [first, second] = copies.pointers() else { panic!("two values") };
        assert!(first.addr().is_multiple_of(512) && *first != values[0].0);
        // SAFETY: a copy of each.
        unsafe { assert_eq!((first.cast::<Wide>().read(), second.read()), (wide, byte)) };
    }
}
