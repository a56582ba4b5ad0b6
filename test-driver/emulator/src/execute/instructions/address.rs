//! Handlers of address conversions: `cvta`, `isspacep`, addresses of local variables.
//!
//! PTX ISA, "cvta" and "isspacep".

use crate::execute::machine::{Instruction, Machine};
use crate::launch::Space;
use crate::memory::{LOCAL_BASE, PARAM_BASE, SHARED_BASE, WINDOW_BYTES};

/// The address of a variable in the function's frame, at offset `b`.
pub(crate) fn frame_address(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    m.set(i.d, u64::from(m.thread.base) + u64::from(i.b));
    pc + 1
}

fn window_base(space: u32) -> u64 {
    match space {
        s if s == Space::Shared as u32 => SHARED_BASE,
        s if s == Space::Local as u32 => LOCAL_BASE,
        s if s == Space::Param as u32 => PARAM_BASE,
        _ => 0,
    }
}

/// `cvta`: the generic address of one in space `x`.
pub(crate) fn to_generic(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    m.set(i.d, m.get(i.a).wrapping_add(window_base(i.x)));
    pc + 1
}

/// `cvta.to`: the address in space `x` of a generic one.
pub(crate) fn from_generic(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    m.set(i.d, m.get(i.a).wrapping_sub(window_base(i.x)));
    pc + 1
}

/// `isspacep`
pub(crate) fn is_in_space(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let address = m.get(i.a);
    let within = |base: u64| address.wrapping_sub(base) < WINDOW_BYTES;
    let base = window_base(i.x);
    let found = if base != 0 {
        within(base)
    } else {
        ![SHARED_BASE, LOCAL_BASE, PARAM_BASE].into_iter().any(within)
    };
    m.set(i.d, u64::from(found));
    pc + 1
}
