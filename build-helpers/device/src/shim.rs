//! Support for the entry points that `#[kernel]` generates. No public interface.

use crate::{
    index::IndexSpace,
    slice::DisjointSlice,
    thread::{block_idx, thread_idx},
};
use core::{convert::Infallible, marker::PhantomData};

/// Passes its argument on in the build for devices, and drops it in every other.
#[cfg(kernelmill)]
#[macro_export]
#[doc(hidden)]
macro_rules! __entry {
    ($($token:tt)*) => { $($token)* };
}

/// Passes its argument on in the build for devices, and drops it in every other.
#[cfg(not(kernelmill))]
#[macro_export]
#[doc(hidden)]
macro_rules! __entry {
    ($($token:tt)*) => {};
}

/// Lets the optimiser assume that the axes after the first `DIMENSIONS` have one thread, so that
/// [`crate::thread::index_1d`] costs nothing for them.
///
/// # Safety
///
/// The launch has one thread along these axes.
#[inline(always)]
pub unsafe fn launched_over<const DIMENSIONS: u32>() {
    if DIMENSIONS < 2 && (block_idx().y != 0 || thread_idx().y != 0) {
        // SAFETY: by the condition of this function.
        unsafe { unreachable() }
    }
    if DIMENSIONS < 3 && (block_idx().z != 0 || thread_idx().z != 0) {
        // SAFETY: by the condition of this function.
        unsafe { unreachable() }
    }
}

/// [`core::hint::unreachable_unchecked`] without the message of its debug check, which would link
/// formatting into every kernel.
///
/// # Safety
///
/// It is never reached.
#[inline(always)]
unsafe fn unreachable() -> ! {
    let nothing = core::ptr::dangling::<Infallible>();
    // SAFETY: by the condition of this function.
    match unsafe { *nothing } {}
}

/// One launch of a kernel, as a value of its entry: what the host passes lives as long.
#[derive(Debug, Default)]
pub struct LaunchScope(());

/// The lifetime of a launch. Arguments have it, so that a kernel cannot keep them: one that asks for
/// another lifetime, such as `'static`, does not compile.
#[derive(Clone, Copy, Debug)]
pub struct LaunchLifetime<'launch>(PhantomData<&'launch LaunchScope>);

impl LaunchScope {
    /// The launch that the calling thread is of.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }

    /// The lifetime of the launch.
    #[inline(always)]
    #[must_use]
    pub const fn lifetime(&self) -> LaunchLifetime<'_> {
        LaunchLifetime(PhantomData)
    }
}

impl<'launch> LaunchLifetime<'launch> {
    /// The slice of `length` elements at `data`.
    ///
    /// # Safety
    ///
    /// As for [`core::slice::from_raw_parts`], of which this is the part without checks.
    #[inline(always)]
    #[must_use]
    pub unsafe fn slice<T>(self, data: *const T, length: usize) -> &'launch [T] {
        // SAFETY: by the condition of this function.
        unsafe { &*core::ptr::slice_from_raw_parts(data, length) }
    }

    /// The disjoint slice of `length` elements at `data`.
    ///
    /// # Safety
    ///
    /// As for [`DisjointSlice::from_raw_parts`].
    #[inline(always)]
    #[must_use]
    pub unsafe fn disjoint<T, I: IndexSpace>(
        self,
        data: *mut T,
        length: usize,
    ) -> DisjointSlice<'launch, T, I> {
        // SAFETY: by the condition of this function.
        unsafe { DisjointSlice::from_raw_parts(data, length) }
    }

    /// The value at `data`.
    ///
    /// # Safety
    ///
    /// There is one, which nothing changes.
    #[inline(always)]
    #[must_use]
    pub unsafe fn reference<T>(self, data: *const T) -> &'launch T {
        // SAFETY: by the condition of this function.
        unsafe { &*data }
    }
}

/// Whether values of a type are copied between host and threads as they like: the host copies what it passes and what
/// it is given, and each thread of a launch has a copy.
///
/// A constant of an `impl` with bounds is found before one of a trait, where its bounds hold.
#[derive(Debug)]
pub struct Crossing<T>(PhantomData<T>);

impl<T: Copy + Send + Sync> Crossing<T> {
    /// They are.
    pub const IS_PLAIN: bool = true;
}

/// What a type has that is not plain.
pub trait NotPlain {
    /// They are not.
    const IS_PLAIN: bool = false;
}

impl<T> NotPlain for Crossing<T> {}

/// Whether a type is one of the atomics, which are numbers for the host.
#[derive(Debug)]
pub struct Atomics<T>(PhantomData<T>);

impl<T: Atomic> Atomics<T> {
    /// It is.
    pub const IS_ATOMIC: bool = true;
}

/// What a type has that is no atomic.
pub trait NotAtomic {
    /// It is none.
    const IS_ATOMIC: bool = false;
}

impl<T> NotAtomic for Atomics<T> {}

/// The atomics of `core` and of this crate.
pub trait Atomic {}

macro_rules! atomics {
    ($($name:ident)*) => {$(impl Atomic for core::sync::atomic::$name {})*};
}

atomics!(AtomicBool AtomicI8 AtomicI16 AtomicI32 AtomicI64 AtomicIsize);
atomics!(AtomicU8 AtomicU16 AtomicU32 AtomicU64 AtomicUsize);
impl Atomic for crate::atomic::AtomicF32 {}
impl Atomic for crate::atomic::AtomicF64 {}

/// The slice with the width that `#[kernel(width = w)]` gives, where its index has rows: which one it is
/// known by its type, under whatever name it is written.
///
/// # Safety
///
/// Every thread of the launch gives the same `width`.
#[inline(always)]
#[must_use]
pub unsafe fn with_rows<T, I: IndexSpace>(
    slice: DisjointSlice<'_, T, I>,
    width: usize,
) -> DisjointSlice<'_, T, I> {
    // SAFETY: by the condition of this function.
    unsafe { slice.with_rows(width) }
}
