//! Thread indices as values.
//!
//! A [`ThreadIndex`] is a witness of which thread it is: safe code gets only that of its own thread, from
//! [`crate::thread::index_1d`], [`crate::thread::index_2d`], [`crate::thread::grid_stride`] and [`crate::thread::block_leader`], and cannot pass it to another thread,
//! because it is neither [`Send`] nor [`Sync`], and because memory that threads share
//! ([`crate::shared::SharedArray`], `static mut`) is accessible only by `unsafe` code. No two threads of
//! a launch have equal ones, for any grid: a launch has less than 2^63 threads, which is checked before
//! it starts. [`crate::slice::DisjointSlice::get_mut`] relies on that.

use crate::intrinsics;
use core::{fmt, marker::PhantomData};

/// Three numbers, one for each axis: an index or an extent of the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Index3 {
    /// Along the axis that varies fastest.
    pub x: u32,
    /// Along the second axis.
    pub y: u32,
    /// Along the axis that varies slowest.
    pub z: u32,
}

/// How threads are numbered over the elements of a [`crate::slice::DisjointSlice`]: [`Index1D`],
/// [`Index2D`] or [`PerBlock`].
pub trait IndexSpace: sealed::Sealed + Copy {}

/// Elements in a row: goes with [`crate::thread::index_1d`].
#[derive(Clone, Copy, Debug)]
pub enum Index1D {}

/// Rows of elements, one after the other: goes with [`crate::thread::index_2d`].
#[derive(Clone, Copy, Debug)]
pub enum Index2D {}

/// An element for each block of the launch, which one thread of the block writes: goes with
/// [`crate::thread::block_leader`].
#[derive(Clone, Copy, Debug)]
pub enum PerBlock {}

impl IndexSpace for Index1D {}
impl IndexSpace for Index2D {}
impl IndexSpace for PerBlock {}

/// Proof of which thread this is, see [the module](self).
pub struct ThreadIndex<I: IndexSpace = Index1D> {
    linear: usize,
    place: I::Place,
    /// Neither `Send` nor `Sync`.
    thread: PhantomData<*mut ()>,
}

impl<I: IndexSpace> Clone for ThreadIndex<I> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I: IndexSpace> Copy for ThreadIndex<I> {}

impl<I: IndexSpace> fmt::Debug for ThreadIndex<I> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ThreadIndex({})", self.linear)
    }
}

impl<I: IndexSpace> ThreadIndex<I> {
    /// The number of the thread in its launch, from 0: threads along x follow each other, then
    /// rows along y, then planes along z. Of [`PerBlock`] it is the number of the block, in the same order.
    #[inline(always)]
    #[must_use]
    pub fn get(self) -> usize {
        self.linear
    }
}

impl ThreadIndex<Index1D> {
    #[inline(always)]
    pub(crate) fn new_1d(linear: usize) -> Self {
        Self { linear, place: (), thread: PhantomData }
    }
}

impl ThreadIndex<PerBlock> {
    #[inline(always)]
    pub(crate) fn new_block(linear: usize) -> Self {
        Self { linear, place: (), thread: PhantomData }
    }
}

/// Proof of which thread of its block this is, as [`ThreadIndex`] is for the launch: an element of a
/// [`BlockArray`](crate::block_array::BlockArray) that belongs to this thread.
///
/// From [`crate::thread::block_index`] and [`crate::thread::block_stride`]. No two threads of a block have
/// equal ones.
#[derive(Clone, Copy, Debug)]
pub struct BlockIndex {
    linear: usize,
    /// Neither `Send` nor `Sync`.
    thread: PhantomData<*mut ()>,
}

impl BlockIndex {
    #[inline(always)]
    pub(crate) fn new(linear: usize) -> Self {
        Self { linear, thread: PhantomData }
    }

    /// The number of the element.
    #[inline(always)]
    #[must_use]
    pub fn get(self) -> usize {
        self.linear
    }
}

/// The elements of a thread in a block-stride loop, see [`crate::thread::block_stride`].
#[derive(Clone, Debug)]
pub struct BlockStride(GridStride);

impl BlockStride {
    /// The elements below `count` of the thread of this number, of `threads`.
    #[inline(always)]
    pub(crate) fn new(first: usize, count: usize, threads: usize) -> Self {
        Self(GridStride::new(first, count, threads))
    }
}

impl Iterator for BlockStride {
    type Item = BlockIndex;

    #[inline(always)]
    fn next(&mut self) -> Option<BlockIndex> {
        self.0.next().map(|index| BlockIndex::new(index.get()))
    }

    /// A plain counted loop, which compilers analyse best.
    #[inline(always)]
    fn fold<B, F: FnMut(B, BlockIndex) -> B>(self, init: B, mut each: F) -> B {
        self.0.fold(init, |result, index| each(result, BlockIndex::new(index.get())))
    }
}

impl core::iter::FusedIterator for BlockStride {}

/// The elements of a thread in a grid-stride loop, see [`crate::thread::grid_stride`].
#[derive(Clone, Debug)]
pub struct GridStride {
    next: usize,
    end: usize,
    step: usize,
    /// Neither `Send` nor `Sync`.
    thread: PhantomData<*mut ()>,
}

impl GridStride {
    /// The elements below `count` of the thread of this number, of `threads`.
    #[inline(always)]
    pub(crate) fn new(first: usize, count: usize, threads: usize) -> Self {
        // No slice has more elements, and so the next number never wraps.
        let end = count.min(usize::MAX - threads);
        Self { next: first, end, step: threads, thread: PhantomData }
    }
}

impl Iterator for GridStride {
    type Item = ThreadIndex;

    #[inline(always)]
    fn next(&mut self) -> Option<ThreadIndex> {
        let index = self.next;
        if index < self.end {
            self.next = index.wrapping_add(self.step);
            Some(ThreadIndex::new_1d(index))
        } else {
            None
        }
    }

    /// A plain counted loop, which compilers analyse best, see [`crate::thread::grid_stride`].
    #[inline(always)]
    fn fold<B, F: FnMut(B, ThreadIndex) -> B>(self, init: B, mut each: F) -> B {
        let (mut index, mut result) = (self.next, init);
        while index < self.end {
            result = each(result, ThreadIndex::new_1d(index));
            index = index.wrapping_add(self.step);
        }
        result
    }
}

impl core::iter::FusedIterator for GridStride {}

impl ThreadIndex<Index2D> {
    #[inline(always)]
    pub(crate) fn new_2d(linear: usize, place: Place2D) -> Self {
        Self { linear, place, thread: PhantomData }
    }

    /// The index of the thread along x, from 0 over all blocks.
    #[inline(always)]
    #[must_use]
    pub fn column(self) -> usize {
        self.place.column
    }

    /// The index of the thread along y, from 0 over all blocks.
    #[inline(always)]
    #[must_use]
    pub fn row(self) -> usize {
        self.place.row
    }

    /// The index of the element in rows of `width`, where 0 is the width of the launch. `None` for threads
    /// to the right of the rows, and where no slice has so many elements.
    ///
    /// Two threads get different elements for one `width`: the column is smaller than it, the rows of
    /// planes along z follow each other, and no index wraps. In rows as wide as the launch it is the number
    /// of the thread, which is less than 2^63.
    #[inline(always)]
    pub(crate) fn element(self, width: usize) -> Option<usize> {
        let (row, column) = (self.place.plane_row, self.place.column);
        let full_width = if width == 0 { launch_width() } else { width };
        let fits = (column < full_width) & !is_past_all(row, width);
        if fits { Some(row * full_width + column) } else { None }
    }
}

/// The number of threads of the launch along x.
#[inline(always)]
pub(crate) fn launch_width() -> usize {
    intrinsics::grid_dim_x() as usize * intrinsics::block_dim_x() as usize
}

/// Whether a row of so many elements each starts past the end of every slice.
///
/// The test by leading zeros is exact: a product that takes 65 bits or more is at least 2^63, and one that
/// takes fewer does not wrap. Where it is known that both are numbers of 32 bits, nothing is left of it.
#[inline(always)]
fn is_past_all(row: usize, width: usize) -> bool {
    let narrow = u32::MAX as usize;
    ((row > narrow) | (width > narrow))
        & (row.leading_zeros() + width.leading_zeros() < usize::BITS)
}

/// A thread's index over two axes.
#[derive(Clone, Copy)]
pub struct Place2D {
    pub(crate) column: usize,
    pub(crate) row: usize,
    /// The row, counted on from one plane along z to the next.
    pub(crate) plane_row: usize,
}

pub(crate) mod sealed {
    use super::{Index1D, Index2D, PerBlock, Place2D};

    /// What only this crate implements.
    pub trait Sealed {
        /// The data of a witness besides its number.
        type Place: Copy;
        /// The data of a slice besides its elements: the width of its rows, 0 for that of the launch.
        type Width: Copy + Default;
        /// The width of rows of so many elements; nothing where there are no rows.
        fn width(elements: usize) -> Self::Width;
    }

    impl Sealed for Index1D {
        type Place = ();
        type Width = ();

        #[inline(always)]
        fn width(_elements: usize) {}
    }

    impl Sealed for PerBlock {
        type Place = ();
        type Width = ();

        #[inline(always)]
        fn width(_elements: usize) {}
    }

    impl Sealed for Index2D {
        type Place = Place2D;
        type Width = usize;

        #[inline(always)]
        fn width(elements: usize) -> usize {
            elements
        }
    }
}
