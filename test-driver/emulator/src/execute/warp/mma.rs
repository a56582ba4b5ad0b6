//! `mma.sync`, `ldmatrix` and `stmatrix`: matrices spread over the lanes of a warp.
//!
//! In all shapes, lane `l` holds rows `l / 4` and, of 16-row matrices, `l / 4 + 8`, and in each
//! register neighbouring columns, `l % 4` counting registers. (PTX ISA, "Matrix Fragments for
//! mma.m16n8k16" and the like.)

use super::lanes::Lanes;
use crate::checks::Party;
use crate::execute::state::Block;
use crate::launch::{Access, FaultKind, Space};
use crate::memory::{AccessKind, SHARED_BASE, wrap_narrow};
use crate::program::{LoadMatrix, Multiply, Product};

const COLUMNS: usize = 8;

impl Multiply {
    /// Row and first column of register `register` of A in a lane.
    fn place_a(&self, lane: usize, register: usize) -> (usize, usize) {
        let each = self.elements[0].per_register();
        let (half, part) =
            if self.rows == 16 { (register & 1, register >> 1) } else { (0, register) };
        (lane / 4 + 8 * half, (part * 4 + lane % 4) * each)
    }

    /// First row of register `register` of B in a lane; the column is `lane / 4`.
    fn place_b(&self, lane: usize, register: usize) -> usize {
        (register * 4 + lane % 4) * self.elements[1].per_register()
    }

    /// Row and column of element `index` of C or D in a lane.
    fn place_c(lane: usize, index: usize) -> (usize, usize) {
        (lane / 4 + 8 * (index / 2), lane % 4 * 2 + index % 2)
    }
}

/// Performs a multiplication. Products are summed exactly or in `f64`, and rounded once.
pub(super) fn multiply(lanes: &mut Lanes<'_>, op: &Multiply) {
    let mut a = vec![0f64; op.rows * op.depth];
    let mut b = vec![0f64; op.depth * COLUMNS];
    for lane in lanes.each() {
        for (register, &slot) in op.a.iter().enumerate() {
            let (row, column) = op.place_a(lane, register);
            for index in 0..op.elements[0].per_register() {
                a[row * op.depth + column + index] =
                    op.elements[0].value(lanes.get(lane, slot), index);
            }
        }
        for (register, &slot) in op.b.iter().enumerate() {
            let row = op.place_b(lane, register);
            for index in 0..op.elements[1].per_register() {
                b[(row + index) * COLUMNS + lane / 4] =
                    op.elements[1].value(lanes.get(lane, slot), index);
            }
        }
    }
    let sum = |row: usize, column: usize| -> f64 {
        let term = |k: usize| combine(op.product, a[row * op.depth + k], b[k * COLUMNS + column]);
        (0..op.depth).map(term).sum()
    };
    for lane in lanes.each() {
        write_result(lanes, op, lane, &sum);
    }
}

fn combine(product: Product, a: f64, b: f64) -> f64 {
    match product {
        Product::Multiply | Product::And => a * b,
        Product::Xor => f64::from(u8::from(a != b)),
    }
}

fn write_result(
    lanes: &mut Lanes<'_>,
    op: &Multiply,
    lane: usize,
    sum: &dyn Fn(usize, usize) -> f64,
) {
    let [.., from, to] = op.elements;
    let (from_each, to_each) = (from.per_register(), to.per_register());
    let count = op.rows / 4;
    let results: Vec<u64> = (0..count)
        .map(|index| {
            let (row, column) = Multiply::place_c(lane, index);
            let slot = op.c[index / from_each];
            let start = from.value(lanes.get(lane, slot), index % from_each);
            to.bits_of(start + sum(row, column), op.saturate)
        })
        .collect();
    for (register, parts) in results.chunks(to_each).enumerate() {
        let bits = to.bits();
        let joined =
            parts.iter().enumerate().map(|(index, part)| part << (index as u32 * bits % 64));
        lanes.set(lane, op.d[register], joined.fold(0, |all, part| all | part));
    }
}

/// Bytes of a row.
pub(super) const ROW: usize = 16;

/// Performs a load or store; an error is the lane at fault.
pub(super) fn load(
    lanes: &mut Lanes<'_>,
    block: &mut Block,
    op: &LoadMatrix,
) -> Result<(), (usize, FaultKind)> {
    for (matrix, &slot) in op.registers.iter().enumerate() {
        let mut rows = [0usize; 8];
        for (row, start) in rows.iter_mut().enumerate() {
            *start = row_start(lanes, block, op, matrix * 8 + row)?;
        }
        for lane in lanes.each() {
            let mut register = lanes.get(lane, slot);
            for part in 0..2 {
                let pair = lane % 4 * 2 + part;
                let (row, column) = if op.transposed { (pair, lane / 4) } else { (lane / 4, pair) };
                let at = rows[row] + column * 2;
                let shift = 16 * part;
                if op.store {
                    let half = (register >> shift) as u16;
                    block.shared[at..at + 2].copy_from_slice(&half.to_le_bytes());
                } else {
                    let half = u16::from_le_bytes([block.shared[at], block.shared[at + 1]]);
                    register = register & !(0xffff << shift) | u64::from(half) << shift;
                }
            }
            if !op.store {
                lanes.set(lane, slot, register);
            }
        }
    }
    Ok(())
}

/// Where the row that a lane gives starts in shared memory.
fn row_start(
    lanes: &Lanes<'_>,
    block: &mut Block,
    op: &LoadMatrix,
    lane: usize,
) -> Result<usize, (usize, FaultKind)> {
    let mut address = lanes.get(lane, op.address).wrapping_add(op.offset as u64);
    if op.generic {
        address = address.wrapping_sub(SHARED_BASE);
    }
    let address = wrap_narrow(address);
    let bytes = ROW as u32;
    if !address.is_multiple_of(ROW as u64) {
        return Err((lane, FaultKind::Misaligned { space: Space::Shared, address, bytes }));
    }
    let row = RowAccess { store: op.store, line: op.line, lane, address };
    find_row(lanes, block, row).map_err(|kind| (lane, kind))
}

/// The access of a lane to a row in shared memory.
#[derive(Clone, Copy)]
pub(super) struct RowAccess {
    pub(super) store: bool,
    /// PTX line.
    pub(super) line: u32,
    pub(super) lane: usize,
    pub(super) address: u64,
}

/// The place of a row in shared memory that a lane reads or, with `store`, writes, which is noted.
pub(super) fn find_row(
    lanes: &Lanes<'_>,
    block: &mut Block,
    row: RowAccess,
) -> Result<usize, FaultKind> {
    let (space, bytes) = (Space::Shared, ROW as u32);
    let RowAccess { store, line, lane, address } = row;
    if address.saturating_add(ROW as u64) > block.shared.len() as u64 {
        let (write, nearest) = (store, None);
        return Err(FaultKind::OutOfBounds { space, address, bytes, write, nearest });
    }
    let start = address as usize;
    let range = start..start + ROW;
    if store {
        block.mark_shared_written(range);
    } else if block.shared_written.get(range).is_some_and(|row| row.contains(&false)) {
        return Err(FaultKind::UninitializedShared { address, bytes });
    }
    let linear = lanes.threads[lane].linear;
    let party = Party { block: block.number, linear, line };
    let Some(detector) = &mut block.observer else { return Ok(start) };
    let kind = if store { AccessKind::WRITE } else { AccessKind::READ };
    let clock = &mut block.clocks[linear as usize];
    let noted = detector.access(clock, party, space, address, bytes, kind);
    noted.map(|()| start).map_err(|other| {
        let access = Access {
            block: block.index,
            thread: lanes
                .threads
                .iter()
                .find(|t| t.linear == other.party.linear)
                .map_or([other.party.linear, 0, 0], |t| t.index),
            line: other.party.line,
            write: other.write,
        };
        FaultKind::Race { space, address, write: store, other: access }
    })
}
