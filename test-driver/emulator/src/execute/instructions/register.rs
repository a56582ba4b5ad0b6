//! Handlers of instructions that stay within their thread's registers.

use crate::arithmetic::bits;
use crate::arithmetic::integer::{self, Integer};
use crate::execute::machine::{Instruction, Machine};

/// A handler that sets `d` to a function of the operands named, and of the flags in `x` if wanted.
macro_rules! handler {
    ($function:expr, $($operand:ident)* $(; $flags:ident)?) => {{
        fn run(
            m: &mut $crate::execute::Machine<'_>,
            i: &$crate::execute::Instruction,
            pc: u32,
        ) -> u32 {
            let value =
                $function($(m.get(i.$operand),)* $($crate::arithmetic::Flags(i.$flags))?);
            m.set(i.d, value);
            pc + 1
        }
        run as $crate::execute::Handler
    }};
}

/// A function of `a`.
macro_rules! unary {
    ($function:expr) => {
        $crate::execute::instructions::register::handler!($function, a)
    };
}

/// A function of `a` and `b`.
macro_rules! binary {
    ($function:expr) => {
        $crate::execute::instructions::register::handler!($function, a b)
    };
}

/// A function of `a`, `b` and `c`.
macro_rules! ternary {
    ($function:expr) => {
        $crate::execute::instructions::register::handler!($function, a b c)
    };
}

/// A function of `a` and the flags.
macro_rules! unary_with {
    ($function:expr) => {
        $crate::execute::instructions::register::handler!($function, a; x)
    };
}

/// A function of `a`, `b` and the flags.
macro_rules! binary_with {
    ($function:expr) => {
        $crate::execute::instructions::register::handler!($function, a b; x)
    };
}

/// A function of `a`, `b`, `c` and the flags.
macro_rules! ternary_with {
    ($function:expr) => {
        $crate::execute::instructions::register::handler!($function, a b c; x)
    };
}

pub(crate) use {binary, binary_with, handler, ternary, ternary_with, unary, unary_with};

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
        let slot = m.function.tables.pool[(i.e + part) as usize];
        value |= (m.get(slot) & (u64::MAX >> (64 - i.x))) << (part * i.x);
    }
    m.set(i.d, value);
    pc + 1
}

/// `mov.b64 {d, e}, a`: registers `e..e+c` of the pool, of `x` bits each.
pub(crate) fn unpack(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let value = m.get(i.a);
    for part in 0..i.c {
        let slot = m.function.tables.pool[(i.e + part) as usize];
        m.set(slot, value >> (part * i.x) & (u64::MAX >> (64 - i.x)));
    }
    pc + 1
}

/// `add.cc`, `addc`, `addc.cc`: `x` bit 0 uses the carry, bit 1 sets it.
pub(crate) fn add_carry<T: Integer>(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let carry = i.x & 1 == 1 && m.thread.carry;
    let (sum, out) = integer::add_carrying::<T>(m.get(i.a), m.get(i.b), carry);
    m.set(i.d, sum);
    if i.x & 2 != 0 {
        m.thread.carry = out;
    }
    pc + 1
}

/// `sub.cc`, `subc`, `subc.cc`: `x` bit 0 uses the carry, bit 1 sets it.
///
/// Devices subtract by adding the complement: the carry is set where nothing is borrowed. PTX leaves that
/// open, and a `sub.cc` whose carry an `addc` takes shows it (`IADD3 P0, a, -b`, then `IADD3.X ... P0`).
pub(crate) fn subtract_carry<T: Integer>(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let borrow = i.x & 1 == 1 && !m.thread.carry;
    let (difference, out) = integer::subtract_borrowing::<T>(m.get(i.a), m.get(i.b), borrow);
    m.set(i.d, difference);
    if i.x & 2 != 0 {
        m.thread.carry = !out;
    }
    pc + 1
}

/// `lop3` with the table `x`.
pub(crate) fn lookup_3(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let value = bits::lookup_3(m.get(i.a), m.get(i.b), m.get(i.c), i.x);
    m.set(i.d, value);
    pc + 1
}

/// `bfi`, whose length is in slot `e`.
pub(crate) fn insert<T: Integer>(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let (a, b, c, e) = (m.get(i.a), m.get(i.b), m.get(i.c), m.get(i.e));
    m.set(i.d, bits::insert::<T>(a, b, c, e));
    pc + 1
}
