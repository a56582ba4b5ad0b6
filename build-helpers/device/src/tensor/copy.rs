//! Asynchronous copies from global to shared memory (`cp.async`).

use core::{fmt, marker::PhantomData};

use super::memory::Memory;
use crate::intrinsics;

/// The commit groups of this thread's copies, in their order.
#[derive(Debug)]
pub struct CopyQueue {
    committed: u32,
    /// Neither `Send` nor `Sync`: each thread has its own.
    thread: PhantomData<*mut ()>,
}

impl Default for CopyQueue {
    #[inline(always)]
    fn default() -> Self {
        Self::new()
    }
}

impl CopyQueue {
    /// An empty queue. A kernel has one.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self { committed: 0, thread: PhantomData }
    }
}

/// Copies to one array in shared memory, which it borrows.
///
/// ```no_run
/// use kernelmill_device::{prelude::*, tensor::{AsyncCopies, CopyQueue}};
///
/// /// Sums of blocks of 1024 elements, a block of 256 threads for each.
/// #[kernel]
/// pub fn sums(x: &[f32], mut y: DisjointSlice<f32>) {
///     static mut TILE: SharedArray<f32, 1024> = SharedArray::UNINIT;
///     let (block, t) = (thread::block_idx().x as usize, thread::thread_idx().x as usize);
///     let mut queue = CopyQueue::new();
///     // SAFETY: all threads have finished copying before any of them reads.
///     let tile = unsafe { &*&raw const TILE };
///     let mut copies = AsyncCopies::to(tile);
///     // SAFETY: each thread copies four elements of its own, of a parameter.
///     unsafe { copies.copy::<4>(4 * t, x, 1024 * block + 4 * t) };
///     let pending = copies.commit(&mut queue);
///     // What needs no element of the tile is done here.
///     let tile = pending.wait(&queue);
///     thread::sync_threads();
///     if t == 0 {
///         let mut sum = 0.0;
///         for i in 0..1024 {
///             sum += tile[i];
///         }
///         // SAFETY: each block has one element of its own.
///         unsafe { *y.get_unchecked_mut(block) = sum };
///     }
/// }
/// ```
#[must_use = "copies are complete only after `commit` and `wait`"]
pub struct AsyncCopies<'a, T, M: Memory<T> + ?Sized> {
    to: &'a M,
    /// Neither `Send` nor `Sync`: it is of the thread that made it.
    thread: PhantomData<*mut T>,
}

/// Copies in flight, with their destination, which is returned once they are complete.
#[must_use = "copies are complete only after `wait`"]
pub struct PendingCopies<'a, T, M: Memory<T> + ?Sized> {
    to: &'a M,
    number: u32,
    /// Neither `Send` nor `Sync`: it is of the thread that made it.
    thread: PhantomData<*mut T>,
}

impl<'a, T: Copy, M: Memory<T> + ?Sized> AsyncCopies<'a, T, M> {
    /// No copies yet, to memory that the block shares.
    #[inline(always)]
    pub fn to(to: &'a M) -> Self {
        const { assert!(M::IS_SHARED, "copies must be to shared memory") };
        Self { to, thread: PhantomData }
    }

    /// Starts a copy of `N` elements, from `index` of a slice to `at` of shared memory. It is asynchronous
    /// if it has 4, 8 or 16 bytes and both addresses are multiples of that; otherwise it is done at once.
    ///
    /// # Safety
    ///
    /// `from` is memory that the host gave the kernel. Until the copies were waited for, no thread
    /// writes to either part, nor reads the one in shared memory; other threads read it only after a
    /// barrier that follows.
    ///
    /// # Panics
    ///
    /// In kernels, where either part has no `N` elements.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn copy<const N: usize>(&mut self, at: usize, from: &[T], index: usize) {
        let bytes = size_of::<[T; N]>();
        let from = &from[index..][..N];
        assert!(
            at <= self.to.count() && N <= self.to.count() - at,
            "the copy goes past the end of the shared memory"
        );
        let from = from.as_ptr();
        let to = self.to.start().wrapping_add(at).cast_mut();
        let is_aligned = (from.addr() | to.addr()) & (bytes.max(1) - 1) == 0;
        match bytes {
            4 if is_aligned => intrinsics::copy_async_4(to.cast(), from.cast()),
            8 if is_aligned => intrinsics::copy_async_8(to.cast(), from.cast()),
            16 if is_aligned => intrinsics::copy_async_16(to.cast(), from.cast()),
            _ => {
                let mut i = 0;
                while i < N {
                    // SAFETY: within both, of which no other thread uses these parts.
                    unsafe { *to.add(i) = *from.add(i) };
                    i += 1;
                }
            }
        }
    }

    /// Commits the copies as a group.
    #[inline(always)]
    pub fn commit(self, queue: &mut CopyQueue) -> PendingCopies<'a, T, M> {
        intrinsics::copy_async_commit();
        let number = queue.committed;
        queue.committed = number.wrapping_add(1);
        PendingCopies { to: self.to, number, thread: PhantomData }
    }
}

impl<'a, T, M: Memory<T> + ?Sized> PendingCopies<'a, T, M> {
    /// Waits until this thread's copies of this group, and of all groups before it, are complete; up to
    /// three later groups may be in flight. Copies of other threads are visible after a barrier.
    #[inline(always)]
    pub fn wait(self, queue: &CopyQueue) -> &'a M {
        match queue.committed.wrapping_sub(self.number) {
            0 | 1 => intrinsics::copy_async_wait_0(),
            2 => intrinsics::copy_async_wait_1(),
            3 => intrinsics::copy_async_wait_2(),
            _ => intrinsics::copy_async_wait_3(),
        }
        self.to
    }
}

macro_rules! debug {
    ($($name:ident)*) => {
        $(
            impl<T, M: Memory<T> + ?Sized> fmt::Debug for $name<'_, T, M> {
                fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                    write!(formatter, concat!(stringify!($name), " to {} elements"), self.to.count())
                }
            }
        )*
    };
}

debug! { AsyncCopies PendingCopies }
