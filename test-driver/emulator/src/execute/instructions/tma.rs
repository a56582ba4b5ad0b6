//! Handlers of `cp.async.bulk.tensor` (TMA): tiles of tensors between global and shared memory.
//!
//! Copies are done when they are issued. (PTX ISA, "Tensor copy", and "Tensors" for tiles, out-of-bound
//! accesses and swizzling.)

use super::area::{Area, check_alignment};
use super::generic::Generic;
use super::global::Global;
use super::mbarrier::brought;
use super::spaces::Shared;
use crate::execute::machine::{Instruction, Machine, STOP};
use crate::launch::{FaultKind, Space};
use crate::memory::{AccessKind, TensorMap, WORDS, Word};

/// Bytes in the innermost dimension that tiles begin at a multiple of.
const UNIT: i64 = 16;

/// A tile of a tensor, and where it lies in shared memory.
struct Tile {
    map: TensorMap,
    /// Coordinates of the tile's first element in the tensor.
    start: Vec<i64>,
    shared: u64,
}

/// An element of the tile: its address in shared memory, and the one in the tensor, if it is in it.
type Element = (u64, Option<u64>);

impl Tile {
    /// The map at generic address `a`, the tile at `b`, `x` coordinates in the pool from `c` on.
    fn of(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> Option<Tile> {
        let (at, shared) = (m.get(i.a), m.get(i.b));
        let mut words = [0; WORDS];
        for (place, word) in words.iter_mut().enumerate() {
            *word =
                Generic::load::<u64>(m, pc, at.wrapping_add(8 * place as u64), AccessKind::READ)?;
        }
        let invalid = |m: &mut Machine<'_>, reason: String| {
            m.fail(FaultKind::InvalidOperand { reason });
            None
        };
        if !at.is_multiple_of(64) {
            return invalid(m, format!("a tensor map at {at:#x}, which is not a multiple of 64"));
        }
        let Some(map) = TensorMap::decode(&words) else {
            return invalid(
                m,
                "a tensor map that was not written by `cuTensorMapEncodeTiled`".into(),
            );
        };
        if map.sizes.len() != i.x as usize {
            let rank = map.sizes.len();
            return invalid(
                m,
                format!("a tensor map of {rank} dimensions, but the instruction is for {}", i.x),
            );
        }
        let (align, _) = map.placing();
        check_alignment(m, Space::Shared, shared, align as u32)?;
        let slots = m.function.tables.pool[i.c as usize..][..i.x as usize].to_vec();
        let start: Vec<_> =
            slots.into_iter().map(|slot| i64::from(m.get(slot) as u32 as i32)).collect();
        // Not in the PTX ISA: processors end the launch with an illegal instruction.
        if start[0] * i64::from(map.element_bytes) % UNIT != 0 {
            let at = start[0] * i64::from(map.element_bytes);
            return invalid(
                m,
                format!(
                    "a tile that begins {at} bytes after the first element of a row, which is not a multiple of {UNIT}"
                ),
            );
        }
        Some(Tile { map, start, shared })
    }

    fn bytes(&self) -> u64 {
        self.map.box_sizes.iter().map(|size| u64::from(*size)).product::<u64>()
            * u64::from(self.map.element_bytes)
    }

    /// What of a store processors do wrong, although the PTX ISA allows it.
    fn fault_of_store(&self) -> Option<String> {
        if self.start.iter().any(|at| *at < 0) {
            return Some("a tile is stored that begins before the tensor".to_owned());
        }
        let size = self.map.sizes[0];
        let end = self.start[0].unsigned_abs() + u64::from(self.map.box_sizes[0]);
        let has_units = (size * u64::from(self.map.element_bytes)).is_multiple_of(UNIT as u64);
        let hangs_over = end > size && !has_units;
        hangs_over.then(|| {
            format!(
                "a tile is stored that extends beyond the rows of the tensor, whose size is not a multiple of {UNIT} \
                 bytes"
            )
        })
    }

    fn element(&self, number: u64) -> Element {
        let bytes = u64::from(self.map.element_bytes);
        let (mut rest, mut address) = (number, Some(self.map.address));
        for (d, size) in self.map.box_sizes.iter().enumerate() {
            let at = self.start[d] + (rest % u64::from(*size)) as i64;
            rest /= u64::from(*size);
            let stride = if d == 0 { bytes } else { self.map.strides[d - 1] };
            let inside = u64::try_from(at).ok().filter(|at| *at < self.map.sizes[d]);
            address = address.zip(inside).map(|(address, at)| address + at * stride);
        }
        let (_, mask) = self.map.placing();
        let shared = self.shared + number * bytes;
        (shared ^ (shared >> 7 & mask) << 4, address)
    }
}

/// Loads a tile of elements of one size, zero where they are outside of the tensor.
fn load_tile<W: Word>(m: &mut Machine<'_>, pc: u32, tile: &Tile) -> Option<()> {
    for number in 0..tile.bytes() / u64::from(W::BYTES) {
        let (shared, address) = tile.element(number);
        let value = match address {
            Some(address) => Global::load::<W>(m, pc, address, AccessKind::READ)?,
            None => W::of(0),
        };
        Shared::store(m, pc, shared, value, AccessKind::WRITE)?;
    }
    Some(())
}

/// Stores a tile of elements of one size, but for those that would be outside of the tensor.
fn store_tile<W: Word>(m: &mut Machine<'_>, pc: u32, tile: &Tile) -> Option<()> {
    for number in 0..tile.bytes() / u64::from(W::BYTES) {
        let (shared, address) = tile.element(number);
        if let Some(address) = address {
            let value = Shared::load::<W>(m, pc, shared, AccessKind::READ)?;
            Global::store(m, pc, address, value, AccessKind::WRITE)?;
        }
    }
    Some(())
}

/// Loads a tile to shared memory, and signals the mbarrier at `e`.
pub(crate) fn load(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let Some(tile) = Tile::of(m, i, pc) else { return STOP };
    let done = match tile.map.element_bytes {
        1 => load_tile::<u8>(m, pc, &tile),
        2 => load_tile::<u16>(m, pc, &tile),
        4 => load_tile::<u32>(m, pc, &tile),
        _ => load_tile::<u64>(m, pc, &tile),
    };
    match done {
        Some(()) => brought(m, pc, i.e, tile.bytes()),
        None => STOP,
    }
}

/// Stores a tile to global memory.
pub(crate) fn store(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let Some(tile) = Tile::of(m, i, pc) else { return STOP };
    if let Some(reason) = tile.fault_of_store() {
        return m.fail(FaultKind::InvalidOperand { reason });
    }
    let done = match tile.map.element_bytes {
        1 => store_tile::<u8>(m, pc, &tile),
        2 => store_tile::<u16>(m, pc, &tile),
        4 => store_tile::<u32>(m, pc, &tile),
        _ => store_tile::<u64>(m, pc, &tile),
    };
    done.map_or(STOP, |()| pc + 1)
}
