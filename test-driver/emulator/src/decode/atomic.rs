//! `atom` and `red`.
//!
//! PTX ISA, "atom" and "red".

use super::build::Build;
use super::function::Decoder;
use super::memory::{ignore_hints, strength};
use super::modifiers::Modifiers;
use super::moves::space_named;
use super::problem::Problem;
use crate::arithmetic::half::{self, Binary16, Brain16};
use crate::arithmetic::{Flags, float, integer, packed};
use crate::execute::Handler;
use crate::execute::instructions::{
    AtomicOperation, Target, atomic_handler, atomic_handler_by_space,
};
use crate::memory::{AccessKind, Word};
use crate::ptx::{Instruction, Type};

/// Declares operations by their formula.
macro_rules! operations {
    ($($name:ident($old:ident, $b:ident, $c:ident) $formula:expr;)*) => {$(
        struct $name;
        impl AtomicOperation for $name {
            fn apply($old: u64, $b: u64, $c: u64) -> u64 {
                let _ = ($b, $c);
                $formula
            }
        }
    )*};
}

operations! {
    Exchange(old, b, c) { let _ = old; b };
    And(old, b, c) old & b;
    Or(old, b, c) old | b;
    Xor(old, b, c) old ^ b;
    Add(old, b, c) old.wrapping_add(b);
    AddF32(old, b, c) float::add::<f32>(old, b);
    AddF32Flushed(old, b, c) float::add_with::<f32>(old, b, Flags(Flags::FLUSH));
    AddF64(old, b, c) float::add::<f64>(old, b);
    AddF16(old, b, c) half::add::<Binary16>(old, b, Flags(0));
    AddBf16(old, b, c) half::add::<Brain16>(old, b, Flags(0));
    AddF16x2(old, b, c) packed::halves_2(old, b, |a, b| half::add::<Binary16>(a, b, Flags(0)));
    AddBf16x2(old, b, c) packed::halves_2(old, b, |a, b| half::add::<Brain16>(a, b, Flags(0)));
    MinF16(old, b, c) half::minimum::<Binary16>(old, b, Flags(0));
    MaxF16(old, b, c) half::maximum::<Binary16>(old, b, Flags(0));
    MinU32(old, b, c) integer::minimum::<u32>(old, b);
    MinS32(old, b, c) integer::minimum::<i32>(old, b);
    MinU64(old, b, c) integer::minimum::<u64>(old, b);
    MinS64(old, b, c) integer::minimum::<i64>(old, b);
    MaxU32(old, b, c) integer::maximum::<u32>(old, b);
    MaxS32(old, b, c) integer::maximum::<i32>(old, b);
    MaxU64(old, b, c) integer::maximum::<u64>(old, b);
    MaxS64(old, b, c) integer::maximum::<i64>(old, b);
    Increment(old, b, c) if old as u32 >= b as u32 { 0 } else { old + 1 };
    Decrement(old, b, c) if old == 0 || old as u32 > b as u32 { b } else { old - 1 };
    CompareAndSwap16(old, b, c) if old == b & 0xffff { c } else { old };
    CompareAndSwap32(old, b, c) if old == b & 0xffff_ffff { c } else { old };
    CompareAndSwap64(old, b, c) if old == b { c } else { old };
}

fn of<W: Word, O: AtomicOperation>(target: Target) -> Result<Handler, Problem> {
    atomic_handler::<W, O>(target).ok_or(Problem::Unsupported)
}

fn handler(name: &str, ty: Type, target: Target) -> Result<Handler, Problem> {
    match (name, ty) {
        ("exch", _) if ty.bits() == 64 => of::<u64, Exchange>(target),
        ("exch", _) if ty.bits() == 16 => of::<u16, Exchange>(target),
        ("exch", _) => of::<u32, Exchange>(target),
        ("and", _) if ty.bits() == 64 => of::<u64, And>(target),
        ("and", _) => of::<u32, And>(target),
        ("or", _) if ty.bits() == 64 => of::<u64, Or>(target),
        ("or", _) => of::<u32, Or>(target),
        ("xor", _) if ty.bits() == 64 => of::<u64, Xor>(target),
        ("xor", _) => of::<u32, Xor>(target),
        ("cas", _) if ty.bits() == 16 => of::<u16, CompareAndSwap16>(target),
        ("cas", _) if ty.bits() == 32 => of::<u32, CompareAndSwap32>(target),
        ("cas", _) if ty.bits() == 64 => of::<u64, CompareAndSwap64>(target),
        ("inc", Type::U32) => of::<u32, Increment>(target),
        ("dec", Type::U32) => of::<u32, Decrement>(target),
        ("add", _) => add(ty, target),
        ("min", Type::U32) => of::<u32, MinU32>(target),
        ("min", Type::S32) => of::<u32, MinS32>(target),
        ("min", Type::U64) => of::<u64, MinU64>(target),
        ("min", Type::S64) => of::<u64, MinS64>(target),
        ("max", Type::U32) => of::<u32, MaxU32>(target),
        ("max", Type::S32) => of::<u32, MaxS32>(target),
        ("max", Type::U64) => of::<u64, MaxU64>(target),
        ("max", Type::S64) => of::<u64, MaxS64>(target),
        ("min", Type::F16) => of::<u16, MinF16>(target),
        ("max", Type::F16) => of::<u16, MaxF16>(target),
        _ => Err(Problem::Unsupported),
    }
}

fn add(ty: Type, target: Target) -> Result<Handler, Problem> {
    match ty {
        Type::U32 | Type::S32 => of::<u32, Add>(target),
        Type::U64 | Type::S64 => of::<u64, Add>(target),
        // "on global memory flushes subnormal inputs and results to sign-preserving zero; on shared memory
        // supports subnormal inputs and results".
        Type::F32 => atomic_handler_by_space::<u32, AddF32Flushed, AddF32>(target)
            .ok_or(Problem::Unsupported),
        Type::F64 => of::<u64, AddF64>(target),
        Type::F16 => of::<u16, AddF16>(target),
        Type::Bf16 => of::<u16, AddBf16>(target),
        Type::F16x2 => of::<u32, AddF16x2>(target),
        Type::Bf16x2 => of::<u32, AddBf16x2>(target),
        _ => Err(Problem::Unsupported),
    }
}

const NAMES: [&str; 10] = ["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"];

impl<'a> Decoder<'_, 'a> {
    pub(crate) fn decode_atomic(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        let releases = strength(m) & AccessKind::RELEASE != 0;
        let space = m.pick(space_named);
        ignore_hints(m);
        m.ignore(&["noftz", "rn"]);
        let name = m.pick(|word| NAMES.into_iter().find(|name| *name == word));
        let (name, ty) = (name.ok_or(Problem::Unsupported)?, m.ty()?);
        m.finish()?;
        let returns = i.opcode == "atom";
        let first = usize::from(returns);
        let location = self.location(self.operand(i, first)?, space)?;
        let run = handler(name, ty, location.target)?;
        let b = self.read(self.operand(i, first + 1)?, ty)?;
        let mut build = Build::new(run).a(location.slot).b(b).x(u32::from(releases));
        if name == "cas" {
            build = build.c(self.read(self.operand(i, first + 2)?, ty)?);
        }
        let d = if returns { self.write(&i.operands[0])? } else { self.scratch() };
        let offset = location.offset as u32;
        self.push(build.d(d).with(|i| i.e = offset));
        Ok(())
    }
}
