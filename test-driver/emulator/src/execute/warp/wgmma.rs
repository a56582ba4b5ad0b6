//! `wgmma.mma_async`: products of matrices in shared memory.
//!
//! Each warp of a warpgroup computes 16 of the 64 rows, when it comes to the instruction. (PTX ISA,
//! "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".)

use super::lanes::Lanes;
use super::mma::{ROW, RowAccess, find_row};
use crate::execute::state::Block;
use crate::launch::FaultKind;
use crate::program::{Element, WarpgroupMultiply};

/// Columns of the first factor, and of the second, which is given by its columns.
const DEPTH: usize = 16;
/// Rows of the blocks that matrices in shared memory consist of, each of [`ROW`] bytes.
const BLOCK: usize = 8;

/// A matrix in shared memory without swizzling: blocks of 8 rows of 16 bytes.
///
/// PTX ISA, "Matrix descriptor format".
#[derive(Clone, Copy)]
struct Matrix {
    start: u64,
    /// Bytes from a block to the one of the next columns.
    across: u64,
    /// Bytes from a block to the one of the next rows.
    down: u64,
}

impl Matrix {
    /// `None` where the matrix lies in another way.
    fn of(descriptor: u64) -> Option<Matrix> {
        let bytes = |from: u32| (descriptor >> from & 0x3fff) << 4;
        let is_plain = descriptor >> 62 == 0 && descriptor >> 49 & 7 == 0;
        is_plain.then(|| Matrix { start: bytes(0), across: bytes(16), down: bytes(32) })
    }

    /// Where a row's eight columns from `8 * part` on start.
    fn row(self, row: usize, part: usize) -> u64 {
        let (block, row) = (row / BLOCK, row % BLOCK);
        self.start + block as u64 * self.down + part as u64 * self.across + (row * ROW) as u64
    }
}

/// Performs a warp's part; an error is the lane at fault.
pub(super) fn multiply(
    lanes: &mut Lanes<'_>,
    block: &mut Block,
    op: &WarpgroupMultiply,
) -> Result<(), (usize, FaultKind)> {
    let columns = op.sums.len() * 2;
    let first = 16 * (lanes.threads[0].linear as usize / 32 % 4);
    let a = load(lanes, block, op, 0, first..first + 16)?;
    let b = load(lanes, block, op, 1, 0..columns)?;
    for lane in lanes.each() {
        let adds = lanes.get(lane, op.adds) & 1 == 1;
        for (index, &slot) in op.sums.iter().enumerate() {
            let row = lane / 4 + index / 2 % 2 * 8;
            let column = index / 4 * 8 + lane % 4 * 2 + index % 2;
            let start = Element::F32.value(lanes.get(lane, slot), 0);
            let terms = (0..DEPTH).map(|k| a[row * DEPTH + k] * b[column * DEPTH + k]);
            let sum = if adds { start } else { 0.0 } + terms.sum::<f64>();
            lanes.set(lane, slot, Element::F32.bits_of(sum, false));
        }
    }
    Ok(())
}

/// The elements of rows of a factor.
fn load(
    lanes: &Lanes<'_>,
    block: &mut Block,
    op: &WarpgroupMultiply,
    factor: usize,
    rows: std::ops::Range<usize>,
) -> Result<Vec<f64>, (usize, FaultKind)> {
    let descriptor = lanes.get(0, op.factors[factor]);
    let invalid = |reason: &str| FaultKind::InvalidOperand { reason: reason.to_owned() };
    if let Some(lane) = lanes.each().find(|&lane| lanes.get(lane, op.factors[factor]) != descriptor)
    {
        return Err((lane, invalid("the descriptor of a matrix is not the same in all lanes")));
    }
    let Some(matrix) = Matrix::of(descriptor) else {
        return Err((
            0,
            invalid(
                "a matrix in shared memory with swizzling, which the emulator does not support",
            ),
        ));
    };
    let mut elements = Vec::new();
    for (row, part) in rows.flat_map(|row| (0..DEPTH / BLOCK).map(move |part| (row, part))) {
        let address = matrix.row(row, part);
        let start =
            find_row(lanes, block, RowAccess { store: false, line: op.line, lane: 0, address })
                .map_err(|it| (0, it))?;
        let bytes = &block.shared[start..][..ROW];
        let halves =
            bytes.as_chunks::<2>().0.iter().map(|half| u64::from(u16::from_le_bytes(*half)));
        elements.extend(halves.map(|half| op.element.value(half, 0)));
    }
    Ok(elements)
}
