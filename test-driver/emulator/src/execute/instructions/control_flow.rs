//! Handlers of branches, of what ends or pauses a thread, and of fences.
//!
//! PTX ISA, "Control Flow Instructions" and "Miscellaneous Instructions".

use crate::execute::machine::{Instruction, Machine, Stop};
use crate::launch::{FaultKind, Space};

/// Does nothing: `pragma`-like instructions, prefetches.
pub(crate) fn nothing(_: &mut Machine<'_>, _: &Instruction, pc: u32) -> u32 {
    pc + 1
}

/// `bra`
pub(crate) fn jump(_: &mut Machine<'_>, i: &Instruction, _: u32) -> u32 {
    i.e
}

/// `@a bra`
pub(crate) fn jump_if(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    if m.get(i.a) & 1 == 1 { i.e } else { pc + 1 }
}

/// `@!a bra`
pub(crate) fn jump_unless(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    if m.get(i.a) & 1 == 0 { i.e } else { pc + 1 }
}

/// `brx.idx`: targets `e..e+c` of the pool.
pub(crate) fn jump_indexed(m: &mut Machine<'_>, i: &Instruction, _: u32) -> u32 {
    let index = m.get(i.a) as u32;
    if index >= i.c {
        return m.fail(FaultKind::BranchIndex { index, targets: i.c });
    }
    m.function.tables.pool[(i.e + index) as usize]
}

/// `exit`
pub(crate) fn exit(m: &mut Machine<'_>, _: &Instruction, _: u32) -> u32 {
    m.stop(Stop::End)
}

/// `trap`
pub(crate) fn trap(m: &mut Machine<'_>, _: &Instruction, _: u32) -> u32 {
    m.fail(FaultKind::Trap)
}

/// `brkpt`
pub(crate) fn breakpoint(m: &mut Machine<'_>, _: &Instruction, _: u32) -> u32 {
    m.fail(FaultKind::Breakpoint)
}

/// `nanosleep`: others go first.
pub(crate) fn pause(m: &mut Machine<'_>, _: &Instruction, _: u32) -> u32 {
    m.stop(Stop::Pause)
}

/// `membar`, `fence`
pub(crate) fn fence(m: &mut Machine<'_>, _: &Instruction, pc: u32) -> u32 {
    m.observe_fence();
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    pc + 1
}

/// An instruction that is not supported: text `e` of the function says which.
pub(crate) fn unsupported(m: &mut Machine<'_>, i: &Instruction, _: u32) -> u32 {
    let what = m.function.tables.texts[i.e as usize].clone();
    m.fail(FaultKind::Unsupported { what })
}

/// An access to a variable of the frame, or to a parameter, that is not within it; slot `a` has the offset.
pub(crate) fn beyond(m: &mut Machine<'_>, i: &Instruction, _: u32) -> u32 {
    let space = if i.x == 1 { Space::Local } else { Space::Param };
    let address = m.get(i.a);
    m.fail(FaultKind::OutOfBounds { space, address, bytes: 1, write: false, nearest: None })
}
