//! Device-level arguments of a launch: pointers to them, and copies for a launch that may outlive the
//! call that makes it.

use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    ptr::{self, NonNull},
};

use kernelmill_artifact::MAX_ARGUMENTS;

/// Pointers to device-level arguments, on the stack: the kernel's own, and behind them the sizes of what is
/// passed as an address.
pub(crate) struct Pointers<'a> {
    /// One more than there are arguments, for what a back end adds.
    places: &'a mut [*const u8],
    len: usize,
    own: usize,
}

/// The places of a launch with few arguments: it is not to clear as many as there can be.
const FEW: usize = 16;

impl Pointers<'_> {
    /// Gives `work` room for so many pointers, or for all that there can be.
    pub(crate) fn with_room<R>(pointers: usize, work: impl FnOnce(&mut Pointers<'_>) -> R) -> R {
        if pointers < FEW {
            work(&mut Pointers::of(&mut [ptr::null(); FEW]))
        } else {
            work(&mut Pointers::of(&mut [ptr::null(); MAX_ARGUMENTS + 1]))
        }
    }

    fn of(places: &mut [*const u8]) -> Pointers<'_> {
        Pointers { places, len: 0, own: 0 }
    }

    /// Adds one of the kernel's own arguments.
    ///
    /// # Panics
    ///
    /// With more than there is room for: the build refuses kernels of more than [`MAX_ARGUMENTS`].
    pub(crate) fn push(&mut self, pointer: *const u8) {
        self.push_size(pointer);
        self.own = self.len;
    }

    /// Adds a size, after all of the kernel's own arguments.
    ///
    /// # Panics
    ///
    /// As [`Pointers::push`].
    pub(crate) fn push_size(&mut self, pointer: *const u8) {
        let is_room = self.len + 1 < self.places.len();
        assert!(is_room, "a kernel has at most {MAX_ARGUMENTS} arguments");
        self.places[self.len] = pointer;
        self.len += 1;
    }

    pub(crate) fn as_slice(&self) -> &[*const u8] {
        &self.places[..self.len]
    }

    /// The pointers with one to the address of a panic record, which comes before the sizes. To be called
    /// once.
    #[allow(dead_code, reason = "for drivers, and a build may have none")]
    pub(crate) fn with_record(&mut self, record: &u64) -> &mut [*const u8] {
        let (own, len) = (self.own, self.len);
        // Of most kernels there are no sizes.
        (own..len).rev().for_each(|at| self.places[at + 1] = self.places[at]);
        self.places[own] = ptr::from_ref(record).cast();
        &mut self.places[..=len]
    }
}

/// Copies of device-level arguments, and pointers to them.
pub(crate) struct OwnedArguments {
    pointers: Vec<*const u8>,
    /// How many are the kernel's own.
    own: usize,
    copies: Vec<Copied>,
}

// SAFETY: the copies are only read, and they are this value's own.
unsafe impl Send for OwnedArguments {}
// SAFETY: as above.
unsafe impl Sync for OwnedArguments {}

/// Bytes on the heap.
struct Copied {
    pointer: NonNull<u8>,
    bytes: usize,
    layout: Layout,
}

impl OwnedArguments {
    /// Copies of values, each given by its address and its number of bytes, of which the first `own` are
    /// the kernel's own.
    ///
    /// # Safety
    ///
    /// The values can be read.
    pub(crate) unsafe fn copy(values: &[(*const u8, usize)], own: usize) -> Self {
        // SAFETY: promised.
        let copy = |&(value, bytes)| unsafe { Copied::new(value, bytes) };
        let copies: Vec<_> = values.iter().map(copy).collect();
        let pointers = copies.iter().map(|copy| copy.pointer.as_ptr().cast_const()).collect();
        Self { pointers, own, copies }
    }

    /// Gives `work` the pointers to the copies, as a launch takes them.
    pub(crate) fn with_pointers<R>(&self, work: impl FnOnce(&mut Pointers<'_>) -> R) -> R {
        Pointers::with_room(self.pointers.len(), |pointers| {
            pointers.places[..self.pointers.len()].copy_from_slice(&self.pointers);
            (pointers.len, pointers.own) = (self.pointers.len(), self.own);
            work(pointers)
        })
    }

    /// Writes a value over the copy at an index, if there is one of as many bytes.
    ///
    /// # Safety
    ///
    /// The value can be read.
    pub(crate) unsafe fn overwrite(
        &mut self,
        index: usize,
        value: *const u8,
        bytes: usize,
    ) -> bool {
        let Some(copy) = self.copies.get(index).filter(|copy| copy.bytes == bytes) else {
            return false;
        };
        // SAFETY: promised; the copy has as many bytes and is this value's own.
        unsafe { ptr::copy_nonoverlapping(value, copy.pointer.as_ptr(), bytes) };
        true
    }

    /// How many of the pointers are to the kernel's own arguments.
    #[allow(dead_code, reason = "for drivers, and a build may have none")]
    pub(crate) fn own(&self) -> usize {
        self.own
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
        Self { pointer, bytes, layout }
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and freed once.
        unsafe { dealloc(self.pointer.as_ptr(), self.layout) }
    }
}

impl Clone for OwnedArguments {
    fn clone(&self) -> Self {
        let values: Vec<_> = self
            .copies
            .iter()
            .map(|copy| (copy.pointer.as_ptr().cast_const(), copy.bytes))
            .collect();
        // SAFETY: the copies are there.
        unsafe { Self::copy(&values, self.own) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_comes_between_arguments_and_sizes() {
        let [a, b, size, last, record] = [1_u64, 2, 3, 4, 5];
        let address = |value: &u64| ptr::from_ref(value).cast::<u8>();
        Pointers::with_room(4, |pointers| {
            pointers.push(address(&a));
            pointers.push(address(&b));
            pointers.push_size(address(&size));
            pointers.push_size(address(&last));
            assert_eq!(pointers.as_slice(), [&a, &b, &size, &last].map(address));
            let all = [&a, &b, &record, &size, &last].map(address);
            assert_eq!(pointers.with_record(&record), all);
        });
    }

    #[test]
    fn there_is_room_for_as_many_as_are_asked_for_and_the_record() {
        let [a, record] = [1_u64, 2];
        let address = |value: &u64| ptr::from_ref(value).cast::<u8>();
        for count in [0, FEW - 1, FEW, FEW + 1, MAX_ARGUMENTS] {
            Pointers::with_room(count, |full| {
                (0..count).for_each(|_| full.push(address(&a)));
                let all = full.with_record(&record);
                assert_eq!((all.len(), all.last()), (count + 1, Some(&address(&record))));
            });
            let values = vec![(address(&a), 8); count];
            // SAFETY: it is there.
            let copies = unsafe { OwnedArguments::copy(&values, count / 2) };
            copies.with_pointers(|pointers| {
                assert_eq!(pointers.as_slice(), copies.pointers());
                assert_eq!(pointers.with_record(&record)[count / 2], address(&record));
            });
        }
    }

    #[test]
    fn copies_are_aligned_as_the_values() {
        #[derive(Clone, Copy, PartialEq, Debug)]
        #[repr(align(512))]
        struct Wide([u8; 512]);
        let (wide, byte) = (Wide([7; 512]), 3_u8);
        let values = [(ptr::from_ref(&wide).cast(), 512), (ptr::from_ref(&byte), 1)];
        // SAFETY: both are there.
        let copies = unsafe { OwnedArguments::copy(&values, 2) };
        let [first, second] = copies.pointers() else { panic!("two values") };
        assert!(first.addr().is_multiple_of(512) && *first != values[0].0);
        // SAFETY: a copy of each.
        unsafe { assert_eq!((first.cast::<Wide>().read(), second.read()), (wide, byte)) };
    }
}
