//! Loading fragments from shared memory by `ldmatrix`, and writing code once for each register.

use super::{
    element::{Element, REGISTERS, layout},
    layout::Layout,
    memory::{Memory, Rows},
};
use crate::{intrinsics, warp};

/// The code sixteen times, `$register` a constant in each: registers are in arrays, which stay in
/// registers only where each index is known.
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
        && layout::<E>() == Layout::MMA
}

/// A from rows of shared memory, which are within it; `along` whether rows of memory are along K.
#[inline(always)]
#[expect(non_snake_case, reason = "the name of the fragment")]
pub(super) fn A<E: Element, M: Memory<E::Storage> + ?Sized>(
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
    let (row, half, part) =
        (lane % 8, lane / 8 % 2 * 8, lane / 16 * (ROW / size_of::<E::Storage>()));
    let place = if along { (half + row) * stride + part } else { (part + row) * stride + half };
    let mut words = [0_u32; 4];
    let address = memory.start().wrapping_add(start + place).cast();
    if along {
        intrinsics::ldmatrix_x4(words.as_mut_ptr(), address);
    } else {
        intrinsics::ldmatrix_x4_trans(words.as_mut_ptr(), address);
    }
    let mut registers = [E::NOTHING; REGISTERS];
    registers[0] = E::loaded(words[0]);
    registers[1] = E::loaded(words[1]);
    registers[2] = E::loaded(words[2]);
    registers[3] = E::loaded(words[3]);
    Some(registers)
}

/// B from rows of shared memory, which are within it; `along` whether rows of memory are along K.
#[inline(always)]
#[expect(non_snake_case, reason = "the name of the fragment")]
pub(super) fn B<E: Element, M: Memory<E::Storage> + ?Sized>(
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
    let (row, part) = (lane % 8, lane / 8 % 2 * (ROW / size_of::<E::Storage>()));
    let place = if along { row * stride + part } else { (part + row) * stride };
    let mut words = [0_u32; 2];
    let address = memory.start().wrapping_add(start + place).cast();
    if along {
        intrinsics::ldmatrix_x2(words.as_mut_ptr(), address);
    } else {
        intrinsics::ldmatrix_x2_trans(words.as_mut_ptr(), address);
    }
    let mut registers = [E::NOTHING; REGISTERS];
    registers[0] = E::loaded(words[0]);
    registers[1] = E::loaded(words[1]);
    Some(registers)
}
