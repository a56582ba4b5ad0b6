//! Loads of fragments from shared memory by `ldmatrix`, and code that is repeated for each register.

use super::{
    element::{Element, REGISTERS},
    layout::Layout,
    memory::{Memory, Rows},
};
use crate::{intrinsics, warp};

/// Repeats the code sixteen times with a constant `$register`: arrays stay in registers only if every
/// index is a constant.
macro_rules! sixteen {
    ($register:ident, $code:block) => {
        $crate::tensor::rows::sixteen!(@ $register $code 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $register:ident $code:block $($number:literal)*) => {
        $({
            const $register: usize = $number;
            $code
        })*
    };
}
pub(super) use sixteen;

/// Bytes that `ldmatrix` takes from an address, and to a multiple of which the address is aligned.
const ROW: usize = 16;

/// Whether `ldmatrix` can take a fragment from rows: they start at multiples of what it takes. It is the
/// same for all lanes.
#[inline(always)]
fn takes<E: Element, M: Memory<E::Storage> + ?Sized>(memory: &M, rows: Rows) -> bool {
    let size = size_of::<E::Storage>();
    let first = memory.start().addr() + rows.start * size;
    first.is_multiple_of(ROW) && (rows.stride * size).is_multiple_of(ROW)
}

/// Whether fragments of shared memory are loaded by `ldmatrix`: along K, or across it where a row of
/// the 8 by 8 matrices, of 16 bits an element, can be turned into a column.
#[inline(always)]
fn has_instruction<E: Element, M: Memory<E::Storage> + ?Sized>(along: bool) -> bool {
    M::IS_SHARED
        && size_of::<E::Storage>() <= 4
        && (along || size_of::<E::Storage>() == 2)
        && Layout::of::<E>() == Layout::MMA
}

/// A fragment of 8 by 8 matrices from rows of shared memory, which are within it: A of four or B of two.
/// `along` says whether rows of memory are along K.
#[inline(always)]
pub(super) fn load<E: Element, M: Memory<E::Storage> + ?Sized, const MATRICES: usize>(
    memory: &M,
    rows: Rows,
    along: bool,
) -> Option<[E::Register; REGISTERS]> {
    if !has_instruction::<E, M>(along) {
        return None;
    }
    if !takes::<E, M>(memory, rows) {
        return None;
    }
    let (lane, Rows { start, stride, .. }) = (warp::lane_id() as usize, rows);
    // A lane gives a row of the matrix `lane / 8`. They follow each other along K, those of A across
    // it first.
    let across = MATRICES / 2;
    let (row, half) = (lane % 8, lane / 8 % across * 8);
    let part = lane / 8 / across % 2 * (ROW / size_of::<E::Storage>());
    let place = if along { (half + row) * stride + part } else { (part + row) * stride + half };
    let mut words = [0_u32; 4];
    let (to, address) = (words.as_mut_ptr(), memory.start().wrapping_add(start + place).cast());
    match (MATRICES, along) {
        (4, true) => intrinsics::ldmatrix_x4(to, address),
        (4, false) => intrinsics::ldmatrix_x4_trans(to, address),
        (_, true) => intrinsics::ldmatrix_x2(to, address),
        (_, false) => intrinsics::ldmatrix_x2_trans(to, address),
    }
    let mut registers = [E::NOTHING; REGISTERS];
    registers[0] = E::loaded(words[0]);
    registers[1] = E::loaded(words[1]);
    if MATRICES == 4 {
        registers[2] = E::loaded(words[2]);
        registers[3] = E::loaded(words[3]);
    }
    Some(registers)
}
