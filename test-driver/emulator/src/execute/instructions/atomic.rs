//! `atom` and `red`.
//!
//! Operands: `d` the register for the old value (a scratch slot for `red`), `a` the address, `b` and
//! `c` the operands, `e` the offset, `x` 1 when the operation releases what came before it.
//!
//! PTX ISA, "atom" and "red".

use super::area::Area;
use super::generic::{Generic, resolve};
use super::global::Global;
use super::load_store::Target;
use super::spaces::Shared;
use crate::execute::machine::{Handler, Instruction, Machine, STOP};
use crate::launch::Space;
use crate::memory::Word;

/// The new value from the old one and the operands.
pub(crate) trait AtomicOperation {
    fn apply(old: u64, b: u64, c: u64) -> u64;
}

fn run<A: Area, W: Word, O: AtomicOperation>(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let address = m.address(i.a, i.e);
    let (b, c) = (m.get(i.b), m.get(i.c));
    if i.x & 1 == 1 {
        m.observe_fence();
    }
    let mut change = |old| O::apply(old, b, c);
    match A::update::<W>(m, pc, address, &mut change) {
        Some(old) => {
            m.set(i.d, old);
            m.thread.counted = Some(address);
            pc + 1
        }
        None => STOP,
    }
}

/// The handler of an atomic operation on words of a type.
pub(crate) fn atomic_handler<W: Word, O: AtomicOperation>(target: Target) -> Option<Handler> {
    Some(match target {
        Target::Global => run::<Global, W, O>,
        Target::Shared => run::<Shared, W, O>,
        Target::Generic => run::<Generic, W, O>,
        Target::Local | Target::Param | Target::Frame => return None,
    })
}

/// As [`run`] at a generic address, where the space decides on the operation.
fn run_by_space<W: Word, G: AtomicOperation, S: AtomicOperation>(
    m: &mut Machine<'_>,
    i: &Instruction,
    pc: u32,
) -> u32 {
    match resolve(m, m.address(i.a, i.e)).0 {
        Space::Shared => run::<Generic, W, S>(m, i, pc),
        _ => run::<Generic, W, G>(m, i, pc),
    }
}

/// As [`atomic_handler`], where an operation is one thing in global memory and another in shared memory.
pub(crate) fn atomic_handler_by_space<W: Word, G: AtomicOperation, S: AtomicOperation>(
    target: Target,
) -> Option<Handler> {
    match target {
        Target::Generic => Some(run_by_space::<W, G, S>),
        Target::Shared => atomic_handler::<W, S>(target),
        _ => atomic_handler::<W, G>(target),
    }
}
