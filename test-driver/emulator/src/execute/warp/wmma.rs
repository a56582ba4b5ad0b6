//! `wmma.mma`: products of matrices in fragments.
//!
//! PTX ISA, "Matrix Fragments for WMMA": their layout is the device's own affair.

use super::lanes::Lanes;
use crate::program::{Fragment, FragmentMultiply};

/// All elements, from the registers of a warp.
fn gather(fragment: &Fragment, lanes: &Lanes<'_>) -> Vec<f64> {
    let mut values = vec![0.0; fragment.rows * fragment.columns];
    for lane in lanes.each() {
        for (register, &slot) in fragment.registers.iter().enumerate() {
            for index in 0..fragment.element.per_register() {
                let value = fragment.element.value(lanes.get(lane, slot), index);
                values[fragment.place(lane, register, index)] = value;
            }
        }
    }
    values
}

/// Performs a multiplication of fragments.
pub(super) fn multiply(lanes: &mut Lanes<'_>, op: &FragmentMultiply) {
    let (a, b, mut result) = (gather(&op.a, lanes), gather(&op.b, lanes), gather(&op.c, lanes));
    let (depth, columns) = (op.a.columns, op.b.columns);
    for (place, sum) in result.iter_mut().enumerate() {
        let (row, column) = (place / columns, place % columns);
        *sum += (0..depth).map(|k| a[row * depth + k] * b[k * columns + column]).sum::<f64>();
    }
    let element = op.d.element;
    for lane in lanes.each() {
        for (register, &slot) in op.d.registers.iter().enumerate() {
            let part = |index: usize| {
                let value = result[op.d.place(lane, register, index)];
                element.bits_of(value, op.saturate) << (16 * index)
            };
            lanes.set(lane, slot, (0..element.per_register()).map(part).fold(0, |a, b| a | b));
        }
    }
}
