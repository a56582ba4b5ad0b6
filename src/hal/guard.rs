//! Launch guards: what is kept of an argument's memory until its launch is queued.
//!
//! A back end puts state of its own type into a [`Guard`] without an allocation, so that the layers
//! above hold the memory of any back end and name none. Guaranteed: the state is dropped once, when
//! the guard is, and it never outlives what it borrows.

use std::{marker::PhantomData, mem::MaybeUninit, ptr};

use super::async_error::ErrorSlot;

/// The room for a back end's state, in words: what the order between streams takes with cudarc.
const WORDS: usize = 4;

/// What is kept of an argument's memory; dropped after the launch.
pub(crate) enum Guard<'a> {
    /// There is no memory.
    Nothing,
    /// Nothing is kept, nor has the memory to be held again for further launches on the same stream, as long as it stays
    /// borrowed as it is.
    #[allow(dead_code, reason = "for drivers, and a build may have none")]
    Lasting,
    /// Launches have run when they return: this is where their errors go.
    Errors(&'a ErrorSlot),
    /// State of a back end whose launches are queued.
    State { _kept: State<'a> },
}

/// A value of any type, inline; dropped with this.
pub(crate) struct State<'a> {
    /// Pointers, so that those in the value stay what they are when this is moved.
    words: MaybeUninit<[*mut (); WORDS]>,
    /// Drops the value.
    drop: unsafe fn(*mut *mut ()),
    marker: PhantomData<&'a ()>,
}

impl<'a> Guard<'a> {
    /// Keeps `state` until the launch is queued.
    #[allow(dead_code, reason = "for drivers, and a build may have none")]
    pub(crate) fn keeping<T: 'a>(state: T) -> Self {
        Self::State { _kept: State::new(state) }
    }

    /// Where the error of a launch that has run goes.
    pub(crate) fn errors(&self) -> Option<&'a ErrorSlot> {
        match self {
            Self::Errors(slot) => Some(slot),
            Self::Nothing | Self::Lasting | Self::State { .. } => None,
        }
    }

    /// Whether nothing is to be done for further launches on the same stream.
    pub(crate) fn is_lasting(&self) -> bool {
        matches!(self, Self::Nothing | Self::Lasting)
    }
}

#[allow(dead_code, reason = "for drivers, and a build may have none")]
impl<'a> State<'a> {
    fn new<T: 'a>(state: T) -> Self {
        const {
            assert!(size_of::<T>() <= size_of::<[*mut (); WORDS]>(), "there is no room for it");
            assert!(align_of::<T>() <= align_of::<*mut ()>(), "the room is aligned to words");
        }
        /// Drops the `T` in `words`.
        unsafe fn drop<T>(words: *mut *mut ()) {
            // SAFETY: only called by the drop of the `State` into which `new` wrote a `T`.
            unsafe { ptr::drop_in_place(words.cast::<T>()) }
        }
        let mut words = MaybeUninit::<[*mut (); WORDS]>::uninit();
        // SAFETY: the room is large enough and aligned; it belongs to this function.
        unsafe { words.as_mut_ptr().cast::<T>().write(state) };
        Self { words, drop: drop::<T>, marker: PhantomData }
    }
}

impl Drop for State<'_> {
    fn drop(&mut self) {
        // SAFETY: `new` wrote the value that this function drops, and it is dropped here alone.
        unsafe { (self.drop)(self.words.as_mut_ptr().cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Counts its drops.
    struct Counted<'a>(&'a AtomicU32, [usize; WORDS - 1]);

    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            assert_eq!(self.1, [7; WORDS - 1]);
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn state_is_dropped_once_wherever_it_was_moved() {
        let drops = AtomicU32::new(0);
        let guards = [(); 3].map(|()| Guard::keeping(Counted(&drops, [7; WORDS - 1])));
        let moved = Box::new(guards);
        assert!(moved.iter().all(|guard| guard.errors().is_none()));
        drop(moved);
        assert_eq!(drops.into_inner(), 3);
    }
}
