//! Handlers of `wmma.load` and `wmma.store`.
//!
//! Here the elements of a matrix follow each other by rows, through the registers of lane 0, then of
//! lane 1, and so on; where there are more places than elements, they start over. (PTX ISA, "wmma.load":
//! the layout of fragments is the device's own affair.)

use super::area::Area;
use super::generic::Generic;
use super::global::Global;
use super::load_store::Target;
use super::spaces::Shared;
use crate::execute::machine::{Handler, Instruction, Machine, STOP};
use crate::memory::AccessKind;

fn load_element<A: Area>(m: &mut Machine<'_>, pc: u32, at: u64, bytes: u32) -> Option<u64> {
    Some(match bytes {
        1 => u64::from(A::load::<u8>(m, pc, at, AccessKind::READ)?),
        2 => u64::from(A::load::<u16>(m, pc, at, AccessKind::READ)?),
        4 => u64::from(A::load::<u32>(m, pc, at, AccessKind::READ)?),
        _ => A::load::<u64>(m, pc, at, AccessKind::READ)?,
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
        1 => A::store(m, pc, at, bits as u8, AccessKind::WRITE),
        2 => A::store(m, pc, at, bits as u16, AccessKind::WRITE),
        4 => A::store(m, pc, at, bits as u32, AccessKind::WRITE),
        _ => A::store(m, pc, at, bits, AccessKind::WRITE),
    }
}

/// `wmma.load` and `wmma.store` of fragment `x` at slot `a` with the stride in slot `b`: each lane
/// transfers its own elements.
fn transfer<A: Area, const STORE: bool>(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let fragment = &m.function.tables.fragments[i.x as usize];
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
