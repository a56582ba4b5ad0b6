//! Disjoint slices: memory that all threads of a launch write, each its own element.

use crate::index::{
    Index1D, Index2D, IndexSpace, PerBlock, ThreadIndex, launch_width, sealed::Sealed,
};
use core::{
    marker::PhantomData,
    ops::{Index, IndexMut},
};

/// A slice in device memory of which each thread may write the element of its own
/// [`ThreadIndex`], so that safe code cannot race. A parameter of kernels; the host passes a
/// buffer of `T`.
///
/// `DisjointSlice<T>` is indexed by [`thread::index_1d`](crate::thread::index_1d): element `i` belongs to thread `i`.
/// `DisjointSlice<T, Index2D>` is indexed by [`thread::index_2d`](crate::thread::index_2d) and consists of rows: the thread
/// in column `c` and row `r` has element `r * width + c` if `c < width`, and none otherwise. The
/// width is that of the launch (`grid_dim().x * block_dim().x`), unless the kernel says
/// `#[kernel(dim = 2, width = w)]`, `w` one of its parameters. It must be the same in all threads,
/// or two of them would share an element; a parameter is.
///
/// `DisjointSlice<T, PerBlock>` is indexed by [`thread::block_leader`](crate::thread::block_leader): element `b` is the result of
/// block `b`, which the block's first thread writes.
///
/// ```no_run
/// use kernelmill_device::prelude::*;
///
/// #[kernel]
/// pub fn number(mut y: DisjointSlice<u32>) {
///     let i = thread::index_1d();
///     if let Some(y) = y.get_mut(i) {
///         *y = i.get() as u32;
///     }
/// }
/// ```
///
/// An index cannot move to another thread:
///
/// ```compile_fail,E0277
/// fn send<T: Send>(_: T) {}
/// send(kernelmill_device::thread::index_1d());
/// ```
pub struct DisjointSlice<'a, T, I: IndexSpace = Index1D> {
    data: *mut T,
    length: usize,
    width: <I as Sealed>::Width,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T, I: IndexSpace> DisjointSlice<'a, T, I> {
    /// The slice of `length` elements at `data`. A [`DisjointSlice<T, Index2D>`] gets rows of the
    /// launch's width.
    ///
    /// # Safety
    ///
    /// `data` points to `length` initialised elements, which for `'a` the threads of one launch
    /// reach only through slices made with this same address, length and width.
    #[inline(always)]
    pub unsafe fn from_raw_parts(data: *mut T, length: usize) -> Self {
        Self { data, length, width: Default::default(), borrow: PhantomData }
    }

    /// The number of elements.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no element.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The address of the first element, for atomics and for pointers computed by hand.
    #[inline(always)]
    #[must_use]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.data
    }

    /// Element `index`, whichever thread it belongs to.
    ///
    /// # Safety
    ///
    /// `index` is less than [`Self::len`], and no other thread uses the element while the
    /// reference lives.
    #[inline(always)]
    pub unsafe fn get_unchecked_mut(&mut self, index: usize) -> &mut T {
        // SAFETY: the caller's word.
        unsafe { &mut *self.data.add(index) }
    }

    /// The same slice with rows of `width` elements, where its index has rows; 0 is the width of the launch.
    ///
    /// # Safety
    ///
    /// Every thread of the launch gives the same `width`.
    #[inline(always)]
    pub(crate) unsafe fn with_rows(self, width: usize) -> Self {
        Self { width: I::width(width), ..self }
    }

    #[inline(always)]
    fn own(&mut self, element: usize) -> Option<&mut T> {
        if element < self.length {
            // SAFETY: in bounds; the callers derive `element` from this thread's witness by a
            // function that is the same in all threads and gives each thread another element.
            Some(unsafe { &mut *self.data.add(element) })
        } else {
            None
        }
    }
}

impl<T> DisjointSlice<'_, T, Index1D> {
    /// This thread's element, `None` when the thread is past the end.
    #[inline(always)]
    pub fn get_mut(&mut self, index: ThreadIndex) -> Option<&mut T> {
        self.own(index.get())
    }
}

impl<T> DisjointSlice<'_, T, PerBlock> {
    /// The element of this thread's block, `None` where there are fewer elements than blocks.
    #[inline(always)]
    pub fn get_mut(&mut self, index: ThreadIndex<PerBlock>) -> Option<&mut T> {
        self.own(index.get())
    }
}

impl<T> DisjointSlice<'_, T, Index2D> {
    /// This thread's element, `None` when the thread is right of the rows or past the last one.
    #[inline(always)]
    pub fn get_mut(&mut self, index: ThreadIndex<Index2D>) -> Option<&mut T> {
        let element = index.element(self.width)?;
        self.own(element)
    }

    /// The number of elements of a row.
    #[inline(always)]
    #[must_use]
    pub fn width(&self) -> usize {
        if self.width == 0 { launch_width() } else { self.width }
    }

    /// The same slice with rows of `width` elements; 0 is the width of the launch.
    ///
    /// `#[kernel(dim = 2, width = w)]` does this without `unsafe`.
    ///
    /// # Safety
    ///
    /// Every thread of the launch gives the same `width`.
    #[inline(always)]
    #[must_use]
    pub unsafe fn with_width(self, width: usize) -> Self {
        // SAFETY: by the condition of this function.
        unsafe { self.with_rows(width) }
    }
}

/// What would index a [`DisjointSlice`]: nothing, and rustc says why.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "each element of a `DisjointSlice` belongs to one thread, which gets it by `get_mut`",
    label = "a `DisjointSlice` is not indexed",
    note = "`if let Some(y) = y.get_mut(thread::index_1d()) {{ *y = value; }}` writes the thread's own element",
    note = "`get_unchecked_mut` takes any number, and is `unsafe`; a slice of atomics, `&[AtomicU32]`, is changed by all threads"
)]
pub trait IndexesAnyElement {
    /// Is not called.
    fn never(self) -> !;
}

impl<T, S: IndexSpace, I: IndexesAnyElement> Index<I> for DisjointSlice<'_, T, S> {
    type Output = T;

    fn index(&self, index: I) -> &T {
        index.never()
    }
}

impl<T, S: IndexSpace, I: IndexesAnyElement> IndexMut<I> for DisjointSlice<'_, T, S> {
    fn index_mut(&mut self, index: I) -> &mut T {
        index.never()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Place2D;

    #[test]
    fn an_element_belongs_to_its_thread_alone() {
        let mut data = [0_u32; 3];
        // SAFETY: this is the only slice of `data`.
        let mut slice: DisjointSlice<u32> =
            unsafe { DisjointSlice::from_raw_parts(data.as_mut_ptr(), data.len()) };
        assert_eq!((slice.len(), slice.is_empty()), (3, false));
        for thread in 0..5 {
            let element = slice.get_mut(ThreadIndex::new_1d(thread));
            assert_eq!(element.is_some(), thread < 3);
            *element.unwrap_or(&mut 0) += 10 + thread as u32;
        }
        // SAFETY: in bounds, and there are no other threads.
        unsafe { *slice.get_unchecked_mut(0) += 1 };
        assert_eq!(data, [11, 11, 12]);
    }

    #[test]
    fn threads_right_of_the_rows_have_no_element() {
        let mut data = [0_u32; 6];
        // SAFETY: this is the only slice of `data`, and there is one width.
        let mut slice: DisjointSlice<u32, Index2D> =
            unsafe { DisjointSlice::from_raw_parts(data.as_mut_ptr(), data.len()).with_width(3) };
        for (row, column) in (0..4).flat_map(|row| (0..4).map(move |column| (row, column))) {
            let place = Place2D { column, row, plane_row: row };
            let element = slice.get_mut(ThreadIndex::new_2d(row * 4 + column, place));
            assert_eq!(element.is_some(), row < 2 && column < 3, "{row} {column}");
            if let Some(element) = element {
                *element += 1;
            }
        }
        assert_eq!(data, [1; 6]);
    }

    /// Rows of these widths start at multiples of 2^64, or past the end of every slice.
    #[test]
    fn no_index_of_rows_wraps() {
        let mut data = [0_u32; 3];
        let wide = [1 << 32, 1 << 33, 1 << 62, 1 << 63, (1 << 63) + 1, usize::MAX];
        for width in wide {
            // SAFETY: this is the only slice of `data` that is used, and there is one width.
            let mut slice: DisjointSlice<u32, Index2D> = unsafe {
                DisjointSlice::from_raw_parts(data.as_mut_ptr(), data.len()).with_width(width)
            };
            let rows = [0, 1, 2, 4, (1 << 31), (1 << 32) - 1, 1 << 32, 1 << 33, (1 << 63) - 1];
            for (row, column) in rows.into_iter().flat_map(|row| (0..2).map(move |it| (row, it))) {
                let place = Place2D { column, row, plane_row: row };
                let exact = row as u128 * width as u128 + column as u128;
                let element = slice.get_mut(ThreadIndex::new_2d(0, place));
                assert_eq!(element.is_some(), exact < 3, "{width} {row} {column}");
                let index = ThreadIndex::new_2d(0, place).element(width);
                let expected = usize::try_from(exact).ok().filter(|index| *index < 1 << 63);
                assert_eq!(index.filter(|index| *index < 1 << 63), expected, "{width} {row}");
            }
        }
    }
}
