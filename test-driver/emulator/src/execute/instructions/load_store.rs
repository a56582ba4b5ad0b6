//! Handlers of `ld` and `st`.
//!
//! Operands: `d` the register, or the start of the list of registers in the pool; `a` the slot with
//! the address; `b` an offset; `e` the kind of access; `x` the number of words, the width of the
//! destination, whether to extend the sign, and which words nothing uses.
//!
//! PTX ISA, "ld" and "st".

use super::area::{Area, check_alignment};
use super::generic::Generic;
use super::global::Global;
use super::spaces::{Frame, Local, Param, Shared};
use crate::execute::machine::{Handler, Instruction, Machine, STOP};
use crate::launch::Space;
use crate::memory::{AccessKind, Word};
use crate::ptx::Type;

/// The spaces that handlers are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Global,
    Shared,
    Local,
    /// The parameters of the kernel.
    Param,
    Generic,
    /// A variable in the function's own frame, at the offset.
    Frame,
}

/// Packs the `x` word of a load or store.
pub(crate) fn shape(words: u32, width: u32, ty: Type) -> u32 {
    words | width << 8 | u32::from(ty.is_signed()) << 16
}

/// Says in the `x` word of a load that nothing uses the words of `mask`.
pub(crate) fn mark_unused(x: &mut u32, mask: u32) {
    *x |= mask << UNUSED;
}

/// Where the bits of unused words begin.
const UNUSED: u32 = 17;

/// What strong accesses promise about others holds on every host.
#[inline(always)]
fn order(kind: u32) {
    if kind & AccessKind::STRONG != 0 {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }
}

/// Sign-extends a word to the width of its destination.
fn extend<W: Word>(value: W, x: u32) -> u64 {
    let register = value.register();
    if x >> 16 & 1 == 0 {
        return register;
    }
    let unused = 64 - 8 * W::BYTES;
    let width = x >> 8 & 0xff;
    ((register << unused) as i64 >> unused) as u64 & (u64::MAX >> (64 - width))
}

#[inline(always)]
fn load<A: Area, W: Word, const SIGNED: bool>(
    m: &mut Machine<'_>,
    i: &Instruction,
    pc: u32,
) -> u32 {
    let address = m.address(i.a, i.b);
    match A::load::<W>(m, pc, address, AccessKind(i.e)) {
        Some(value) => {
            order(i.e);
            m.set(i.d, if SIGNED { extend(value, i.x) } else { value.register() });
            pc + 1
        }
        None => STOP,
    }
}

fn load_many<A: Area, W: Word>(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let address = m.address(i.a, i.b);
    let count = i.x & 0xff;
    if check_alignment(m, Space::Generic, address, W::BYTES * count).is_none() {
        return STOP;
    }
    for word in 0..count {
        let at = address.wrapping_add(u64::from(word * W::BYTES));
        let unused = i.x >> (UNUSED + word) & 1;
        let kind = AccessKind(i.e | (unused * AccessKind::UNUSED));
        let Some(value) = A::load::<W>(m, pc, at, kind) else { return STOP };
        let slot = m.function.tables.pool[(i.d + word) as usize];
        m.set(slot, extend(value, i.x));
    }
    pc + 1
}

#[inline(always)]
fn store<A: Area, W: Word>(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let (address, value) = (m.address(i.a, i.b), W::of(m.get(i.d)));
    order(i.e);
    match A::store::<W>(m, pc, address, value, AccessKind(i.e)) {
        Some(()) => pc + 1,
        None => STOP,
    }
}

fn store_many<A: Area, W: Word>(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let address = m.address(i.a, i.b);
    let count = i.x & 0xff;
    if check_alignment(m, Space::Generic, address, W::BYTES * count).is_none() {
        return STOP;
    }
    for word in 0..count {
        let at = address.wrapping_add(u64::from(word * W::BYTES));
        let value = W::of(m.get(m.function.tables.pool[(i.d + word) as usize]));
        if A::store::<W>(m, pc, at, value, AccessKind(i.e)).is_none() {
            return STOP;
        }
    }
    pc + 1
}

fn of_area<A: Area>(ty: Type, words: u32, write: bool) -> Handler {
    match ty.bytes() {
        1 => of_word::<A, u8>(ty, words, write),
        2 => of_word::<A, u16>(ty, words, write),
        4 => of_word::<A, u32>(ty, words, write),
        _ => of_word::<A, u64>(ty, words, write),
    }
}

fn of_word<A: Area, W: Word>(ty: Type, words: u32, write: bool) -> Handler {
    match (write, words) {
        (false, 1) if ty.is_signed() => load::<A, W, true>,
        (false, 1) => load::<A, W, false>,
        (false, _) => load_many::<A, W>,
        (true, 1) => store::<A, W>,
        (true, _) => store_many::<A, W>,
    }
}

/// The handler of a load, or of a store if `write`.
pub(crate) fn memory_handler(target: Target, ty: Type, words: u32, write: bool) -> Handler {
    match target {
        Target::Global => of_area::<Global>(ty, words, write),
        Target::Shared => of_area::<Shared>(ty, words, write),
        Target::Local => of_area::<Local>(ty, words, write),
        Target::Param => of_area::<Param>(ty, words, write),
        Target::Generic => of_area::<Generic>(ty, words, write),
        Target::Frame => of_area::<Frame>(ty, words, write),
    }
}
