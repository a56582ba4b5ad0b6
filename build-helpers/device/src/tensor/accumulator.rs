//! Accumulators of matrix products, and the product itself.

use core::{fmt, marker::PhantomData};

use super::{
    A, B,
    element::{Element, Product, SUMS},
    layout::Layout,
    memory::Rows,
    rows,
};
use crate::{index::IndexSpace, slice::DisjointSlice, warp};

/// A matrix of `M` by `N` sums over the lanes of a warp, each of which holds `M * N / 32` of them.
pub struct Accumulator<S: Product<E>, E: Element> {
    sums: [E::Sum; SUMS],
    /// Neither `Send` nor `Sync`: it is of the thread that made it.
    warp: PhantomData<(S, *mut ())>,
}

impl<S: Product<E>, E: Element> Clone for Accumulator<S, E> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Product<E>, E: Element> Copy for Accumulator<S, E> {}

impl<S: Product<E>, E: Element> fmt::Debug for Accumulator<S, E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Accumulator of m{}n{}k{}", S::M, S::N, S::K)
    }
}

/// The code for each sum that a lane has.
macro_rules! each_sum {
    ($index:ident, $code:block) => {
        each_sum!(@ $index $code 0 1 2 3)
    };
    (@ $index:ident $code:block $($number:literal)*) => {
        $(
            if $number < S::M * S::N / 32 {
                const $index: usize = $number;
                $code
            }
        )*
    };
}

impl<S: Product<E>, E: Element> Accumulator<S, E> {
    /// A matrix of zeros.
    #[inline(always)]
    #[must_use]
    pub fn zero() -> Self {
        Self { sums: [E::ZERO; SUMS], warp: PhantomData }
    }

    /// The matrix whose elements a function computes from row and column. Each lane calls it for the
    /// elements that it holds; every element is held by one lane.
    #[inline(always)]
    pub fn from_fn(mut element: impl FnMut(usize, usize) -> E::Sum) -> Self {
        let (layout, lane) = (Layout::of::<E>(), warp::lane_id() as usize);
        let mut sums = [E::ZERO; SUMS];
        each_sum!(INDEX, {
            let (row, column) = layout.sum(lane, INDEX);
            sums[INDEX] = element(row, column);
        });
        Self { sums, warp: PhantomData }
    }

    /// Calls a function with row, column and value of each element that this lane holds. Every element
    /// is of one lane.
    #[inline(always)]
    pub fn for_each(&self, mut function: impl FnMut(usize, usize, E::Sum)) {
        let (layout, lane) = (Layout::of::<E>(), warp::lane_id() as usize);
        each_sum!(INDEX, {
            let (row, column) = layout.sum(lane, INDEX);
            function(row, column, self.sums[INDEX]);
        });
    }

    /// Applies a function to each element.
    #[inline(always)]
    #[must_use]
    pub fn map(mut self, mut function: impl FnMut(E::Sum) -> E::Sum) -> Self {
        each_sum!(INDEX, {
            self.sums[INDEX] = function(self.sums[INDEX]);
        });
        self
    }

    /// Writes the matrix to rows: the first at element `start`, and `stride` elements from one to the
    /// next.
    ///
    /// # Safety
    ///
    /// No other thread uses these elements, and the other lanes of the warp write this same matrix to
    /// the same place.
    ///
    /// # Panics
    ///
    /// In kernels, in every lane, where an element lies past the end.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn write_rows<I: IndexSpace>(
        &self,
        to: &mut DisjointSlice<'_, E::Sum, I>,
        start: usize,
        stride: usize,
    ) {
        Rows { start, stride, count: S::M, length: S::N }.check(to.len());
        let first = to.as_mut_ptr();
        self.for_each(|row, column, value| {
            // SAFETY: the last element of the matrix is within the slice, and so is every other; each
            // is of one lane, and of one thread by the caller's word.
            unsafe { *first.add(start + row * stride + column) = value };
        });
    }
}

/// `a * b + c`, by the 32 lanes of a warp together.
///
/// Every lane of the warp must call it, with its parts of the same matrices: no thread of the warp has
/// returned, the block has whole warps, and all lanes take the branches around the call. Otherwise values
/// are unspecified, and the launch may hang or fail.
///
/// Products of [`F16`](super::F16), [`Bf16`](super::Bf16), [`Tf32`](super::Tf32) are exact; in which
/// order they are added up, and how sums are rounded on the way, differs between targets. Sums of `i8`
/// are exact, and wrap.
#[inline(always)]
#[must_use]
pub fn mma<S: Product<E>, E: Element>(
    a: &A<S, E>,
    b: &B<S, E>,
    mut c: Accumulator<S, E>,
) -> Accumulator<S, E> {
    if Layout::of::<E>() == Layout::SOFTWARE {
        multiply::<S, E>(a, b, &mut c.sums);
    } else {
        E::multiply(&mut c.sums, &a.registers, &b.registers);
    }
    c
}

/// The sums of products of what one lane holds.
#[inline(always)]
fn multiply<S: Product<E>, E: Element>(a: &A<S, E>, b: &B<S, E>, sums: &mut [E::Sum; SUMS]) {
    let length = S::K / E::PER_REGISTER;
    rows::sixteen!(PART, {
        if PART < length {
            each_sum!(INDEX, {
                let (of_a, of_b) = (
                    a.registers[INDEX / 2 * length + PART],
                    b.registers[INDEX % 2 * length + PART],
                );
                sums[INDEX] = E::dot(of_a, of_b, sums[INDEX]);
            });
        }
    });
}
