//! Fragments: the matrices that a warp multiplies, spread over its lanes.

use core::{fmt, marker::PhantomData};

use super::{
    element::{Element, Product, REGISTERS},
    layout::Layout,
    memory::{Memory, Rows},
    rows,
};
use crate::warp;

/// The registers of a fragment; `$element` is the element of a row and a column.
macro_rules! registers {
    ($registers:ident, $place:ident, |$row:ident, $column:ident| $element:expr, along $along:ident) => {{
        let (layout, lane) = (Layout::of::<E>(), warp::lane_id() as usize);
        let count = layout.$registers::<S, E>();
        let mut registers = [E::NOTHING; REGISTERS];
        rows::sixteen!(REGISTER, {
            if REGISTER < count {
                let ($row, $column) = layout.$place::<S, E>(lane, REGISTER);
                let mut elements = [$element; 4];
                if E::PER_REGISTER > 1 {
                    let $along = $along + 1;
                    elements[1] = $element;
                }
                if E::PER_REGISTER > 2 {
                    let $along = $along + 2;
                    elements[2] = $element;
                    let $along = $along + 1;
                    elements[3] = $element;
                }
                registers[REGISTER] = E::pack(elements);
            }
        });
        registers
    }};
}

macro_rules! fragment {
    ($(#[$doc:meta])* $name:ident, $registers:ident, $place:ident,
     |$row:ident, $column:ident|, along $along:ident, $rows:ident by $columns:ident, $by_rows:literal, $matrices:literal) => {
        $(#[$doc])*
        pub struct $name<S: Product<E>, E: Element> {
            pub(super) registers: [E::Register; REGISTERS],
            /// Neither `Send` nor `Sync`: it is of the thread that made it.
            warp: PhantomData<(S, *mut ())>,
        }

        impl<S: Product<E>, E: Element> Clone for $name<S, E> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<S: Product<E>, E: Element> Copy for $name<S, E> {}

        impl<S: Product<E>, E: Element> fmt::Debug for $name<S, E> {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (m, n, k) = (S::M, S::N, S::K);
                write!(formatter, concat!(stringify!($name), " of m{}n{}k{}"), m, n, k)
            }
        }

        impl<S: Product<E>, E: Element> $name<S, E> {
            #[inline(always)]
            fn new(registers: [E::Register; REGISTERS]) -> Self {
                Self { registers, warp: PhantomData }
            }

            /// The matrix whose elements a function computes from row and column. Each lane calls it for
            /// the elements that it holds; on some targets several lanes hold an element.
            #[inline(always)]
            pub fn from_fn(mut element: impl FnMut(usize, usize) -> E::Storage) -> Self {
                Self::new(registers!($registers, $place, |$row, $column| element($row, $column), along $along))
            }

            /// A matrix whose rows lie in memory: the first at element `start`, and `stride` elements
            /// from one to the next. All lanes give the same.
            ///
            /// # Panics
            ///
            /// In kernels, in every lane, where an element lies past the end.
            #[inline(always)]
            #[track_caller]
            pub fn from_rows<M: Memory<E::Storage> + ?Sized>(memory: &M, start: usize, stride: usize) -> Self {
                let rows = Rows { start, stride, count: S::$rows, length: S::$columns };
                rows.check(memory.count());
                if let Some(registers) = rows::load::<E, M, $matrices>(memory, rows, $by_rows) {
                    return Self::new(registers);
                }
                let first = memory.start();
                let registers = registers!(
                    $registers, $place,
                    |$row, $column| {
                        // SAFETY: the last element of the matrix is within, and so is every other.
                        unsafe { *first.add(start + $row * stride + $column) }
                    },
                    along $along
                );
                Self::new(registers)
            }

            /// A matrix whose columns lie in memory: the first at element `start`, and `stride`
            /// elements from one to the next. All lanes give the same.
            ///
            /// # Panics
            ///
            /// In kernels, in every lane, where an element lies past the end.
            #[inline(always)]
            #[track_caller]
            pub fn from_columns<M: Memory<E::Storage> + ?Sized>(memory: &M, start: usize, stride: usize) -> Self {
                let rows = Rows { start, stride, count: S::$columns, length: S::$rows };
                rows.check(memory.count());
                if let Some(registers) = rows::load::<E, M, $matrices>(memory, rows, !$by_rows) {
                    return Self::new(registers);
                }
                let first = memory.start();
                let registers = registers!(
                    $registers, $place,
                    |$row, $column| {
                        // SAFETY: the last element of the matrix is within, and so is every other.
                        unsafe { *first.add(start + $column * stride + $row) }
                    },
                    along $along
                );
                Self::new(registers)
            }
        }
    };
}

fragment! {
    /// The first of two matrices that a warp multiplies, `M` by `K`. Each lane holds a part of it.
    A, a_registers, a, |row, column|, along column, M by K, true, 4
}

fragment! {
    /// The second of two matrices that a warp multiplies, `K` by `N`. Each lane holds a part of it.
    B, b_registers, b, |row, column|, along row, K by N, false, 2
}
