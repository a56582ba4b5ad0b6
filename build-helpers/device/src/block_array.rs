//! Block arrays: shared memory of a block for safe code, in phases that barriers separate.
//!
//! A [`BlockArray`] is a parameter of a kernel that the host does not pass: OpenCL's `__local` arguments and
//! Metal's `threadgroup` arguments are the same. All elements are zero when the kernel starts. There are two
//! phases, each a type:
//!
//! - [`BlockArray`]: each thread writes its own elements, those of its [`BlockIndex`]es.
//! - [`BlockView`]: every thread reads all elements.
//!
//! [`BlockArray::sync`] and [`BlockView::sync`] wait at the barrier and change the phase; [`sync`] does so for
//! several arrays at one barrier. Each array has a lifetime of its own, which no other has: arrays cannot be
//! exchanged for one another, so all threads are in one phase of one array between two barriers.
//!
//! In a kernel with block arrays, all threads of a block that have not returned come to each barrier together,
//! [`sync_threads`](crate::thread::sync_threads) included: otherwise some would read an array that others write. The
//! compiler proves it, for every target, and refuses a kernel of which it cannot. A condition around a barrier, and
//! the condition of a loop with one, is computed from what all threads of the block have: parameters, the block's
//! index, elements of a slice or of a [`BlockView`] at an index that is the same for all of them. So threads agree
//! on something by writing it to an array and reading one element after the barrier. The rule and its name,
//! *uniform control flow*, are those of [WGSL](https://www.w3.org/TR/WGSL/#uniformity).
//!
//! A thread that panics leaves its elements as they are, so that others read what it has written until then.

use crate::{
    __shim::LaunchScope, index::BlockIndex, intrinsics, shared::SharedArray, thread::block_stride,
};
use core::{
    fmt,
    marker::PhantomData,
    ops::{Deref, Index, IndexMut},
};

/// Types of which every pattern of bytes is a value: numbers, arrays of them, and atomics.
///
/// # Safety
///
/// Whatever bytes are in memory, they are a value of the type, and it has no padding.
pub unsafe trait AnyBitPattern: Send + Sync {}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        // SAFETY: a number without padding, of any bits.
        unsafe impl AnyBitPattern for $number {}
    )*};
}

numbers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);
numbers!(core::sync::atomic::AtomicU32 core::sync::atomic::AtomicI32);
numbers!(core::sync::atomic::AtomicU64 core::sync::atomic::AtomicI64);

// SAFETY: an array is its elements one after the other, and nothing else.
unsafe impl<T: AnyBitPattern, const N: usize> AnyBitPattern for [T; N] {}

/// `N` elements of shared memory, each of which its own thread writes: [the first phase](self).
///
/// ```no_run
/// use kernelmill_device::prelude::*;
///
/// /// Reverses each block of 256 elements.
/// #[kernel(block_size = [256, 1, 1])]
/// pub fn reverse(x: &[f32], mut tile: BlockArray<f32, 256>, mut y: DisjointSlice<f32>) {
///     let (i, own) = (thread::index_1d(), thread::block_index());
///     tile.write(own, if let Some(x) = x.get(i.get()) { *x } else { 0.0 });
///     let tile = tile.sync();
///     if let Some(y) = y.get_mut(i) {
///         *y = tile[255 - own.get()];
///     }
/// }
/// ```
///
/// Two arrays cannot be exchanged for each other:
///
/// ```compile_fail
/// use kernelmill_device::prelude::*;
///
/// fn exchange(mut one: BlockArray<f32, 64>, mut other: BlockArray<f32, 64>) {
///     core::mem::swap(&mut one, &mut other);
/// }
/// ```
///
/// Nor can elements be read before the barrier:
///
/// ```compile_fail
/// use kernelmill_device::prelude::*;
///
/// fn read(array: BlockArray<f32, 64>) -> f32 {
///     array[0]
/// }
/// ```
pub struct BlockArray<'array, T, const N: usize> {
    data: *mut T,
    /// A lifetime that no other array has.
    brand: PhantomData<fn(&'array ()) -> &'array ()>,
}

/// `N` elements of shared memory that every thread of the block reads: [the second phase](self).
///
/// It is a `[T; N]` for whoever reads it.
pub struct BlockView<'array, T, const N: usize> {
    data: *mut T,
    /// A lifetime that no other array has.
    brand: PhantomData<fn(&'array ()) -> &'array ()>,
}

impl<T: AnyBitPattern, const N: usize> BlockArray<'_, T, N> {
    /// The array in some shared memory, of which this writes the thread's own elements.
    ///
    /// # Safety
    ///
    /// Every thread of the block calls this once with the same memory, which nothing else uses, before it
    /// does anything else; and the lifetime is of this array alone.
    #[inline(always)]
    unsafe fn new(memory: *mut SharedArray<T, N>) -> Self {
        let data: *mut T = memory.cast();
        block_stride(N).for_each(|index| {
            // SAFETY: in bounds; a thread's own element, of which zero is a value.
            unsafe { data.add(index.get()).write(core::mem::zeroed()) };
        });
        Self { data, brand: PhantomData }
    }

    /// The number of elements.
    #[inline(always)]
    #[must_use]
    pub const fn len(&self) -> usize {
        N
    }

    /// Whether there is no element.
    #[inline(always)]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        N == 0
    }

    /// Writes an element of this thread.
    ///
    /// # Panics
    ///
    /// Where there is no such element.
    #[inline(always)]
    #[track_caller]
    pub fn write(&mut self, index: BlockIndex, value: T) {
        let () = [(); N][index.get()];
        // SAFETY: in bounds; the witness says that it is this thread's, and none reads in this phase.
        unsafe { self.data.add(index.get()).write(value) };
    }

    /// An element of this thread; `None` where there is no such element.
    #[inline(always)]
    pub fn get_mut(&mut self, index: BlockIndex) -> Option<&mut T> {
        // SAFETY: in bounds, and as for `write`.
        if index.get() < N { Some(unsafe { &mut *self.data.add(index.get()) }) } else { None }
    }
}

impl<'array, T: AnyBitPattern, const N: usize> BlockArray<'array, T, N> {
    /// Waits at a barrier, after which every thread reads what each has written.
    #[inline(always)]
    #[must_use]
    pub fn sync(self) -> BlockView<'array, T, N> {
        sync(self)
    }
}

impl<'array, T: AnyBitPattern, const N: usize> BlockView<'array, T, N> {
    /// Waits at a barrier until all threads have read, after which each writes its own elements.
    #[inline(always)]
    #[must_use]
    pub fn sync(self) -> BlockArray<'array, T, N> {
        sync(self)
    }
}

impl<T: AnyBitPattern, const N: usize> Deref for BlockView<'_, T, N> {
    type Target = [T; N];

    #[inline(always)]
    fn deref(&self) -> &[T; N] {
        // SAFETY: every element is initialised, and no thread writes in this phase.
        unsafe { &*self.data.cast() }
    }
}

/// Waits at one barrier with several arrays, each of which changes its phase: those that were written
/// can be read, and those that were read can be written.
///
/// ```no_run
/// use kernelmill_device::{block_array::sync, prelude::*};
///
/// /// Sums of blocks, by a tree that goes from one array to the other and back: one barrier a step.
/// #[kernel(block_size = [256, 1, 1])]
/// pub fn sum_blocks(
///     x: &[f32],
///     mut even: BlockArray<f32, 256>,
///     mut odd: BlockArray<f32, 256>,
///     mut y: DisjointSlice<f32>,
/// ) {
///     let (i, own) = (thread::index_1d(), thread::block_index());
///     let half_of = |all: &[f32; 256], half: usize| {
///         if own.get() < half { all[own.get()] + all[own.get() + half] } else { 0.0 }
///     };
///     even.write(own, if let Some(x) = x.get(i.get()) { *x } else { 0.0 });
///     let (mut sums, mut half) = (even.sync(), 128);
///     while half > 0 {
///         odd.write(own, half_of(&sums, half));
///         let (mut free, next) = sync((sums, odd));
///         free.write(own, half_of(&next, half / 2));
///         (odd, sums) = sync((next, free));
///         half /= 4;
///     }
///     if let Some(y) = y.get_mut(i) {
///         *y = sums[0];
///     }
/// }
/// ```
#[inline(always)]
#[must_use]
pub fn sync<P: Phase>(phase: P) -> P::Next {
    intrinsics::barrier();
    phase.next()
}

/// An array in one of its phases, or several of them. Only this crate implements it: whoever chose by the
/// thread which array changes its phase would have one array in two phases.
///
/// ```compile_fail
/// use kernelmill_device::{block_array::Phase, prelude::*};
///
/// enum Either<'a, 'b> {
///     One(BlockArray<'a, f32, 64>),
///     Other(BlockArray<'b, f32, 64>),
/// }
///
/// impl Phase for Either<'_, '_> {}
/// ```
pub trait Phase: sealed::Phase {}

impl<P: sealed::Phase> Phase for P {}

mod sealed {
    /// What only this crate implements.
    pub trait Phase {
        /// What comes after the barrier.
        type Next;

        /// The next phase; the caller has waited at a barrier.
        fn next(self) -> Self::Next;
    }
}

impl<'array, T: AnyBitPattern, const N: usize> sealed::Phase for BlockArray<'array, T, N> {
    type Next = BlockView<'array, T, N>;

    #[inline(always)]
    fn next(self) -> Self::Next {
        intrinsics::phase(self.data.cast());
        BlockView { data: self.data, brand: PhantomData }
    }
}

impl<'array, T: AnyBitPattern, const N: usize> sealed::Phase for BlockView<'array, T, N> {
    type Next = BlockArray<'array, T, N>;

    #[inline(always)]
    fn next(self) -> Self::Next {
        intrinsics::phase(self.data.cast());
        BlockArray { data: self.data, brand: PhantomData }
    }
}

macro_rules! several {
    ($(($($phase:ident . $place:tt),*))*) => {$(
        impl<$($phase: sealed::Phase),*> sealed::Phase for ($($phase),*) {
            type Next = ($($phase::Next),*);

            #[inline(always)]
            fn next(self) -> Self::Next {
                ($(self.$place.next()),*)
            }
        }
    )*};
}

several! {
    (A.0, B.1)
    (A.0, B.1, C.2)
    (A.0, B.1, C.2, D.3)
}

/// What would index a [`BlockArray`]: nothing, and rustc says why.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "elements of a `BlockArray` are written by `write`, and read after `sync`",
    label = "a `BlockArray` is not indexed",
    note = "`let tile = tile.sync();` waits for the threads of the block, and gives what every thread reads as an array",
    note = "before it, `tile.write(thread::block_index(), value)` writes the thread's own element"
)]
pub trait IndexesUnsynchronized {
    /// Is not called.
    fn never(self) -> !;
}

impl<T, I: IndexesUnsynchronized, const N: usize> Index<I> for BlockArray<'_, T, N> {
    type Output = T;

    fn index(&self, index: I) -> &T {
        index.never()
    }
}

impl<T, I: IndexesUnsynchronized, const N: usize> IndexMut<I> for BlockArray<'_, T, N> {
    fn index_mut(&mut self, index: I) -> &mut T {
        index.never()
    }
}

impl<T, const N: usize> fmt::Debug for BlockArray<'_, T, N> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BlockArray").field("len", &N).finish()
    }
}

impl<T, const N: usize> fmt::Debug for BlockView<'_, T, N> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BlockView").field("len", &N).finish()
    }
}

/// A lifetime that no other brand has, for one array.
///
/// Brands are dropped one after the other, and each lifetime lasts until its brand is dropped, but not until
/// the scope of a later one is: so no two can be the same. The method is that of the crate
/// [generativity](https://docs.rs/generativity).
#[doc(hidden)]
#[derive(Debug)]
pub struct Brand<'array>(PhantomData<fn(&'array ()) -> &'array ()>);

impl<'array> Brand<'array> {
    /// A brand for a scope of its own.
    #[inline(always)]
    #[must_use]
    pub fn new(_: &'array LaunchScope) -> Self {
        Self(PhantomData)
    }

    /// The array of this brand, in some shared memory.
    ///
    /// # Safety
    ///
    /// Every thread of the block calls this once with the same memory, which nothing else uses, before the
    /// kernel starts.
    #[inline(always)]
    #[must_use]
    pub unsafe fn block_array<T: AnyBitPattern, const N: usize>(
        &self,
        memory: *mut SharedArray<T, N>,
    ) -> BlockArray<'array, T, N> {
        // SAFETY: by the condition of this function.
        unsafe { BlockArray::new(memory) }
    }
}

impl Drop for Brand<'_> {
    /// Makes the lifetime last until here.
    #[inline(always)]
    fn drop(&mut self) {}
}
