//! Integer arithmetic.
//!
//! PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic Instructions".

use super::build::Build;
use super::function::Decoder;
use super::modifiers::Modifiers;
use super::operands::Plain;
use super::problem::Problem;
use crate::arithmetic::{Flags, integer, packed};
use crate::execute::Handler;
use crate::execute::instructions::register;
use crate::execute::instructions::register::{binary, ternary, unary};
use crate::ptx;
use crate::ptx::Type;

/// `by_width!(ty, binary, integer::add)`: the handler for the type's width and sign.
macro_rules! by_type {
    ($ty:expr, $make:ident, $($path:ident)::+) => {
        match $ty {
            Type::U16 | Type::B16 => $make!($($path)::+::<u16>),
            Type::S16 => $make!($($path)::+::<i16>),
            Type::U32 | Type::B32 => $make!($($path)::+::<u32>),
            Type::S32 => $make!($($path)::+::<i32>),
            Type::U64 | Type::B64 => $make!($($path)::+::<u64>),
            Type::S64 => $make!($($path)::+::<i64>),
            _ => return Ok(None),
        }
    };
}

/// The handler for a type of 32 bits.
macro_rules! by_sign {
    ($ty:expr, $make:ident, $($path:ident)::+) => {
        match $ty {
            Type::U32 => $make!($($path)::+::<u32>),
            Type::S32 => $make!($($path)::+::<i32>),
            _ => return Ok(None),
        }
    };
}

/// The handler for both halves of a register.
macro_rules! by_halves {
    ($ty:expr, $($path:ident)::+) => {
        match $ty {
            Type::U16x2 => binary!(|a, b| packed::halves_2(a, b, $($path)::+::<u16>)),
            _ => binary!(|a, b| packed::halves_2(a, b, $($path)::+::<i16>)),
        }
    };
}

pub(crate) use by_type;

type Found = Result<Option<Plain>, Problem>;

/// Integer operations with one type; `None` when the opcode or type is not of this kind.
pub(crate) fn plain(opcode: &str, ty: Type, m: &mut Modifiers<'_>) -> Found {
    match opcode {
        "add" | "sub" | "min" | "max" if matches!(ty, Type::U16x2 | Type::S16x2) => {
            pairs(opcode, ty)
        }
        "add" | "sub" | "min" | "max" | "div" | "rem" => two(opcode, ty, m),
        "mul" | "mul24" => multiply(opcode, ty, m),
        "mad" | "mad24" => multiply_add(opcode, ty, m),
        "sad" => {
            Ok(Some(Plain::new(by_type!(ty, ternary, integer::absolute_difference), &[ty; 3])))
        }
        "abs" => Ok(Some(Plain::new(by_type!(ty, unary, integer::absolute), &[ty]))),
        "neg" => Ok(Some(Plain::new(by_type!(ty, unary, integer::negate), &[ty]))),
        "dp4a" | "dp2a" => dot(opcode, ty, m),
        _ => Ok(None),
    }
}

fn pairs(opcode: &str, ty: Type) -> Found {
    let run = match opcode {
        "add" => by_halves!(ty, integer::add),
        "sub" => by_halves!(ty, integer::subtract),
        "min" => by_halves!(ty, integer::minimum),
        _ => by_halves!(ty, integer::maximum),
    };
    Ok(Some(Plain::new(run, &[ty; 2])))
}

fn two(opcode: &str, ty: Type, m: &mut Modifiers<'_>) -> Found {
    if ty.is_float() || ty == Type::F32x2 {
        return Ok(None);
    }
    let run = match opcode {
        "add" if m.take("sat") => binary!(integer::add_saturating),
        "sub" if m.take("sat") => binary!(integer::subtract_saturating),
        "add" => by_type!(ty, binary, integer::add),
        "sub" => by_type!(ty, binary, integer::subtract),
        "min" if m.take("relu") => {
            binary!(|a, b| integer::not_negative(integer::minimum::<i32>(a, b)))
        }
        "max" if m.take("relu") => {
            binary!(|a, b| integer::not_negative(integer::maximum::<i32>(a, b)))
        }
        "min" => by_type!(ty, binary, integer::minimum),
        "max" => by_type!(ty, binary, integer::maximum),
        "div" => by_type!(ty, binary, integer::divide),
        _ => by_type!(ty, binary, integer::remainder),
    };
    Ok(Some(Plain::new(run, &[ty; 2])))
}

fn multiply(opcode: &str, ty: Type, m: &mut Modifiers<'_>) -> Found {
    let (high, wide, low) = (m.take("hi"), m.take("wide"), m.take("lo"));
    let run = match opcode {
        "mul24" if high => by_sign!(ty, binary, integer::multiply_24_high),
        "mul24" => by_sign!(ty, binary, integer::multiply_24_low),
        _ if high => by_type!(ty, binary, integer::multiply_high),
        _ if wide => by_type!(ty, binary, integer::multiply_wide),
        _ if low => by_type!(ty, binary, integer::multiply_low),
        _ => return Ok(None),
    };
    Ok(Some(Plain::new(run, &[ty; 2])))
}

fn multiply_add(opcode: &str, ty: Type, m: &mut Modifiers<'_>) -> Found {
    let (high, wide, low) = (m.take("hi"), m.take("wide"), m.take("lo"));
    let saturate = high && m.take("sat");
    let run = match opcode {
        "mad24" if saturate => ternary!(integer::mad_24_high_saturating),
        "mad24" if high => by_sign!(ty, ternary, integer::mad_24_high),
        "mad24" => by_sign!(ty, ternary, integer::mad_24_low),
        _ if saturate => ternary!(integer::mad_high_saturating),
        _ if high => by_type!(ty, ternary, integer::mad_high),
        _ if wide => by_type!(ty, ternary, integer::mad_wide),
        _ if low => by_type!(ty, ternary, integer::mad_low),
        _ => return Ok(None),
    };
    let addend = if wide { wider(ty) } else { ty };
    Ok(Some(Plain::new(run, &[ty, ty, addend])))
}

/// The type of a whole product.
fn wider(ty: Type) -> Type {
    match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        _ => Type::S64,
    }
}

fn dot(opcode: &str, ty: Type, m: &mut Modifiers<'_>) -> Found {
    let second = m.ty()?;
    let high = m.take("hi");
    m.ignore(&["lo"]);
    let signs = (ty.is_signed(), second.is_signed());
    let run = match (opcode, signs) {
        ("dp4a", (false, false)) => ternary!(integer::dot_4::<u8, u8>),
        ("dp4a", (false, true)) => ternary!(integer::dot_4::<u8, i8>),
        ("dp4a", (true, false)) => ternary!(integer::dot_4::<i8, u8>),
        ("dp4a", _) => ternary!(integer::dot_4::<i8, i8>),
        (_, (false, false)) if high => ternary!(integer::dot_2::<u16, u8, 2>),
        (_, (false, true)) if high => ternary!(integer::dot_2::<u16, i8, 2>),
        (_, (true, false)) if high => ternary!(integer::dot_2::<i16, u8, 2>),
        _ if high => ternary!(integer::dot_2::<i16, i8, 2>),
        (_, (false, false)) => ternary!(integer::dot_2::<u16, u8, 0>),
        (_, (false, true)) => ternary!(integer::dot_2::<u16, i8, 0>),
        (_, (true, false)) => ternary!(integer::dot_2::<i16, u8, 0>),
        _ => ternary!(integer::dot_2::<i16, i8, 0>),
    };
    Ok(Some(Plain::with(run, &[ty, second, Type::B32], Flags::default().0)))
}

impl<'a> Decoder<'_, 'a> {
    /// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`: products go through a scratch slot.
    pub(crate) fn decode_carry(
        &mut self,
        i: &ptx::Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        let takes = i.opcode.ends_with('c');
        let gives = m.take("cc");
        let flags = u32::from(takes) | u32::from(gives) << 1;
        let high = m.take("hi");
        m.ignore(&["lo"]);
        let ty = m.ty()?;
        let wide = ty.bits() == 64;
        let subtract = i.opcode.starts_with("sub");
        let run: Handler = match (subtract, wide) {
            (false, false) => register::add_carry::<u32>,
            (false, true) => register::add_carry::<u64>,
            (true, false) => register::subtract_carry::<u32>,
            (true, true) => register::subtract_carry::<u64>,
        };
        let (left, right) = if i.opcode.starts_with("mad") {
            self.count(i, 4)?;
            (self.product(i, ty, high)?, self.read(&i.operands[3], ty)?)
        } else {
            self.count(i, 3)?;
            (self.read(&i.operands[1], ty)?, self.read(&i.operands[2], ty)?)
        };
        let d = self.write(&i.operands[0])?;
        self.push(Build::new(run).d(d).a(left).b(right).x(flags));
        Ok(())
    }

    fn product(&mut self, i: &ptx::Instruction<'a>, ty: Type, high: bool) -> Result<u32, Problem> {
        let run: Handler = match (high, ty) {
            (true, Type::S32) => binary!(integer::multiply_high::<i32>),
            (true, Type::S64) => binary!(integer::multiply_high::<i64>),
            (true, Type::U64) => binary!(integer::multiply_high::<u64>),
            (true, _) => binary!(integer::multiply_high::<u32>),
            (false, Type::S64 | Type::U64) => binary!(integer::multiply_low::<u64>),
            (false, _) => binary!(integer::multiply_low::<u32>),
        };
        let (a, b) = (self.read(&i.operands[1], ty)?, self.read(&i.operands[2], ty)?);
        let product = self.scratch();
        self.push(Build::new(run).d(product).a(a).b(b));
        Ok(product)
    }
}
