//! `wmma`: matrices in fragments, whose layout is the device's own affair.
//!
//! Here the elements of a matrix follow each other by rows, through the registers of lane 0, then of
//! lane 1, and so on; where there are more places than elements, they start over.

use super::access::{Area, Generic, Global, Shared};
use super::load::Target;
use super::machine::Machine;
use super::matrix::Element;
use super::observe::Kind;
use super::warp::Lanes;
use crate::program::{Handler, Instruction, STOP};

/// A matrix in registers.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Whether rows are contiguous in memory.
    pub(crate) by_rows: bool,
    pub(crate) element: Element,
    pub(crate) registers: Vec<u32>,
    pub(crate) offset: i64,
}

impl Fragment {
    /// The matrix element at place `index` of a lane's register.
    fn place(&self, lane: usize, register: usize, index: usize) -> usize {
        let each = self.element.per_register();
        let place = (lane * self.registers.len() + register) * each + index;
        place % (self.rows * self.columns)
    }

    /// Where an element lies in memory, in bytes from the start.
    fn memory(&self, place: usize, stride: u64) -> u64 {
        let (row, column) = (place / self.columns, place % self.columns);
        let (major, minor) = if self.by_rows { (row, column) } else { (column, row) };
        (major as u64 * stride + minor as u64) * u64::from(self.element.bytes())
    }

    /// All elements, from the registers of a warp.
    fn gather(&self, lanes: &Lanes<'_>) -> Vec<f64> {
        let mut values = vec![0.0; self.rows * self.columns];
        for lane in lanes.each() {
            for (register, &slot) in self.registers.iter().enumerate() {
                for index in 0..self.element.per_register() {
                    let value = self.element.value(lanes.get(lane, slot), index);
                    values[self.place(lane, register, index)] = value;
                }
            }
        }
        values
    }
}

/// `wmma.mma`: D is A times B plus C.
#[derive(Clone, Debug)]
pub(crate) struct FragmentMultiply {
    pub(crate) a: Fragment,
    pub(crate) b: Fragment,
    pub(crate) c: Fragment,
    pub(crate) d: Fragment,
    pub(crate) saturate: bool,
}

/// Performs a multiplication of fragments.
pub(super) fn multiply(lanes: &mut Lanes<'_>, op: &FragmentMultiply) {
    let (a, b, mut result) = (op.a.gather(lanes), op.b.gather(lanes), op.c.gather(lanes));
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

fn load_element<A: Area>(m: &mut Machine<'_>, pc: u32, at: u64, bytes: u32) -> Option<u64> {
    Some(match bytes {
        1 => u64::from(A::load::<u8>(m, pc, at, Kind::READ)?),
        2 => u64::from(A::load::<u16>(m, pc, at, Kind::READ)?),
        4 => u64::from(A::load::<u32>(m, pc, at, Kind::READ)?),
        _ => A::load::<u64>(m, pc, at, Kind::READ)?,
    })
}

fn store_element<A: Area>(
    m: &mut Machine<'_>,
    pc: u32,
    at: u64,
    bits: u64,
    bytes: u32,
) -> Option<()> {
    match bytes {
        1 => A::store(m, pc, at, bits as u8, Kind::WRITE),
        2 => A::store(m, pc, at, bits as u16, Kind::WRITE),
        4 => A::store(m, pc, at, bits as u32, Kind::WRITE),
        _ => A::store(m, pc, at, bits, Kind::WRITE),
    }
}

/// `wmma.load` and `wmma.store` of fragment `x` at slot `a` with the stride in slot `b`: each lane
/// transfers its own elements.
fn transfer<A: Area, const STORE: bool>(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let fragment = &m.function.fragments[i.x as usize];
    let base = m.get(i.a).wrapping_add(fragment.offset as u64);
    let stride = m.get(i.b) & 0xffff_ffff;
    let (lane, bytes) = (m.thread.lane() as usize, fragment.element.bytes());
    for (register, &slot) in fragment.registers.iter().enumerate() {
        let mut joined = 0;
        for index in 0..fragment.element.per_register() {
            let place = fragment.place(lane, register, index);
            let at = base.wrapping_add(fragment.memory(place, stride));
            let shift = 8 * bytes * index as u32 % 64;
            if STORE {
                if store_element::<A>(m, pc, at, m.get(slot) >> shift, bytes).is_none() {
                    return STOP;
                }
            } else {
                let Some(bits) = load_element::<A>(m, pc, at, bytes) else { return STOP };
                joined |= bits << shift;
            }
        }
        if !STORE {
            m.set(slot, joined);
        }
    }
    pc + 1
}

/// The handler of `wmma.load`, or of `wmma.store`.
pub(crate) fn fragment_handler(target: Target, store: bool) -> Handler {
    match (target, store) {
        (Target::Global, false) => transfer::<Global, false>,
        (Target::Global, true) => transfer::<Global, true>,
        (Target::Shared, false) => transfer::<Shared, false>,
        (Target::Shared, true) => transfer::<Shared, true>,
        (_, false) => transfer::<Generic, false>,
        (_, true) => transfer::<Generic, true>,
    }
}
