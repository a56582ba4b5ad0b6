//! Handlers of instructions that stay within their thread's registers, and of control flow.

use super::machine::{Machine, Stop};
use crate::fault::{FaultKind, Space};
use crate::memory::{LOCAL_BASE, PARAM_BASE, SHARED_BASE, WINDOW_BYTES};
use crate::program::Instruction;

/// A handler that sets `d` to a function of the operands named, and of the flags in `x` if wanted.
macro_rules! handler {
    ($function:expr, $($operand:ident)* $(; $flags:ident)?) => {{
        fn run(
            m: &mut $crate::execute::Machine<'_>,
            i: &$crate::program::Instruction,
            pc: u32,
        ) -> u32 {
            let value =
                $function($(m.get(i.$operand),)* $($crate::arithmetic::Flags(i.$flags))?);
            m.set(i.d, value);
            pc + 1
        }
        run as $crate::program::Handler
    }};
}

/// A function of `a`.
macro_rules! unary {
    ($function:expr) => {
        $crate::execute::ops::handler!($function, a)
    };
}

/// A function of `a` and `b`.
macro_rules! binary {
    ($function:expr) => {
        $crate::execute::ops::handler!($function, a b)
    };
}

/// A function of `a`, `b` and `c`.
macro_rules! ternary {
    ($function:expr) => {
        $crate::execute::ops::handler!($function, a b c)
    };
}

/// A function of `a` and the flags.
macro_rules! unary_with {
    ($function:expr) => {
        $crate::execute::ops::handler!($function, a; x)
    };
}

/// A function of `a`, `b` and the flags.
macro_rules! binary_with {
    ($function:expr) => {
        $crate::execute::ops::handler!($function, a b; x)
    };
}

/// A function of `a`, `b`, `c` and the flags.
macro_rules! ternary_with {
    ($function:expr) => {
        $crate::execute::ops::handler!($function, a b c; x)
    };
}

pub(crate) use {binary, binary_with, handler, ternary, ternary_with, unary, unary_with};

/// Does nothing: `pragma`-like instructions, prefetches.
pub(crate) fn nothing(_: &mut Machine<'_>, _: &Instruction, pc: u32) -> u32 {
    pc + 1
}

/// `mov` between registers.
pub(crate) fn copy(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    m.set(i.d, m.get(i.a));
    pc + 1
}

/// `mov` to a narrower register; `x` is its width.
pub(crate) fn copy_low(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    m.set(i.d, m.get(i.a) & (u64::MAX >> (64 - i.x)));
    pc + 1
}

/// `selp`
pub(crate) fn select(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let chosen = if m.get(i.c) & 1 == 1 { i.a } else { i.b };
    m.set(i.d, m.get(chosen));
    pc + 1
}

/// `slct` by an `s32`: not negative gives the first.
pub(crate) fn select_by_sign(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let chosen = if m.get(i.c) as i32 >= 0 { i.a } else { i.b };
    m.set(i.d, m.get(chosen));
    pc + 1
}

/// `slct` by an `f32`; a NaN gives the second.
pub(crate) fn select_by_float(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let value = f32::from_bits(m.get(i.c) as u32);
    let flushed = i.x != 0 && value.is_subnormal();
    let chosen = if value >= 0.0 || flushed { i.a } else { i.b };
    m.set(i.d, m.get(chosen));
    pc + 1
}

/// `mov.b64 d, {a, b}`: registers `e..e+c` of the pool, of `x` bits each.
pub(crate) fn pack(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let mut value = 0;
    for part in 0..i.c {
        let slot = m.function.pool[(i.e + part) as usize];
        value |= (m.get(slot) & (u64::MAX >> (64 - i.x))) << (part * i.x);
    }
    m.set(i.d, value);
    pc + 1
}

/// `mov.b64 {d, e}, a`: registers `e..e+c` of the pool, of `x` bits each.
pub(crate) fn unpack(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let value = m.get(i.a);
    for part in 0..i.c {
        let slot = m.function.pool[(i.e + part) as usize];
        m.set(slot, value >> (part * i.x) & (u64::MAX >> (64 - i.x)));
    }
    pc + 1
}

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
    m.function.pool[(i.e + index) as usize]
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
    let what = m.function.texts[i.e as usize].clone();
    m.fail(FaultKind::Unsupported { what })
}

/// `add.cc`, `addc`, `addc.cc`: `x` bit 0 uses the carry, bit 1 sets it.
pub(crate) fn add_carry<T: crate::arithmetic::integer::Integer>(
    m: &mut Machine<'_>,
    i: &Instruction,
    pc: u32,
) -> u32 {
    let carry = i.x & 1 == 1 && m.thread.carry;
    let (sum, out) = crate::arithmetic::integer::add_carrying::<T>(m.get(i.a), m.get(i.b), carry);
    m.set(i.d, sum);
    if i.x & 2 != 0 {
        m.thread.carry = out;
    }
    pc + 1
}

/// `sub.cc`, `subc`, `subc.cc`: `x` bit 0 uses the borrow, bit 1 sets it.
pub(crate) fn subtract_carry<T: crate::arithmetic::integer::Integer>(
    m: &mut Machine<'_>,
    i: &Instruction,
    pc: u32,
) -> u32 {
    let borrow = i.x & 1 == 1 && m.thread.carry;
    let (difference, out) =
        crate::arithmetic::integer::subtract_borrowing::<T>(m.get(i.a), m.get(i.b), borrow);
    m.set(i.d, difference);
    if i.x & 2 != 0 {
        m.thread.carry = out;
    }
    pc + 1
}

/// `lop3` with the table `x`.
pub(crate) fn lookup_3(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let value = crate::arithmetic::bits::lookup_3(m.get(i.a), m.get(i.b), m.get(i.c), i.x);
    m.set(i.d, value);
    pc + 1
}

/// `bfi`, whose length is in slot `e`.
pub(crate) fn insert<T: crate::arithmetic::integer::Integer>(
    m: &mut Machine<'_>,
    i: &Instruction,
    pc: u32,
) -> u32 {
    let (a, b, c, e) = (m.get(i.a), m.get(i.b), m.get(i.c), m.get(i.e));
    m.set(i.d, crate::arithmetic::bits::insert::<T>(a, b, c, e));
    pc + 1
}
