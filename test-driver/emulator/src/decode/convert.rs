//! `cvt`
//!
//! `x` holds the flags; `b` and `c` number the types, `e` is the width of the destination.
//!
//! PTX ISA, "cvt".

use super::build::Build;
use super::function::Decoder;
use super::modifiers::Modifiers;
use super::problem::Problem;
use crate::arithmetic::Flags;
use crate::arithmetic::convert::{self, format};
use crate::arithmetic::exact::Format;
use crate::execute::instructions::register::{binary_with, ternary, unary, unary_with};
use crate::execute::{Handler, Instruction as Decoded, Machine, Transfer};
use crate::ptx;
use crate::ptx::Type;

const TYPES: [Type; 13] = [
    Type::U8,
    Type::U16,
    Type::U32,
    Type::U64,
    Type::S8,
    Type::S16,
    Type::S32,
    Type::S64,
    Type::F16,
    Type::Bf16,
    Type::Tf32,
    Type::F32,
    Type::F64,
];

fn number(ty: Type) -> Option<u32> {
    let ty = match ty {
        Type::B8 => Type::U8,
        Type::B16 => Type::U16,
        Type::B32 => Type::U32,
        Type::B64 => Type::U64,
        ty => ty,
    };
    TYPES.iter().position(|&known| known == ty).map(|place| place as u32)
}

fn format_of(ty: Type) -> Format {
    format(ty).unwrap_or(crate::arithmetic::exact::F64)
}

/// Any conversion of one value.
fn convert(m: &mut Machine<'_>, i: &Decoded, pc: u32) -> u32 {
    let (to, from) = (TYPES[i.b as usize], TYPES[i.c as usize]);
    let (a, flags) = (m.get(i.a), Flags(i.x));
    let value = match (to.is_float(), from.is_float()) {
        (false, false) => convert::integer_to_integer(a, to, from, flags, i.e),
        (false, true) => convert::float_to_integer(a, to, format_of(from), flags, i.e),
        (true, false) => convert::integer_to_float(a, format_of(to), from, flags),
        (true, true) => convert::float_to_float(a, format_of(to), format_of(from), flags),
    };
    m.set(i.d, value);
    pc + 1
}

/// The conversions that the host does in one step.
fn fast(to: Type, from: Type, flags: Flags) -> Option<Handler> {
    if flags.0 != 0 {
        return truncating(to, from, flags);
    }
    Some(match (to, from) {
        (Type::U32 | Type::U64, Type::U16) => unary!(|a: u64| a & 0xffff),
        (Type::U64 | Type::S64 | Type::U32 | Type::S32, Type::U32) => {
            unary!(|a: u64| a & 0xffff_ffff)
        }
        (Type::U32 | Type::S32, Type::U64 | Type::S64 | Type::S32) => {
            unary!(|a: u64| a & 0xffff_ffff)
        }
        (Type::S64 | Type::U64, Type::S32) => unary!(|a: u64| a as i32 as i64 as u64),
        (Type::U16 | Type::S16, Type::U32 | Type::S32 | Type::U64 | Type::S64) => {
            unary!(|a: u64| a & 0xffff)
        }
        (Type::F32, Type::U32) => unary!(|a: u64| u64::from((a as u32 as f32).to_bits())),
        (Type::F32, Type::S32) => unary!(|a: u64| u64::from((a as i32 as f32).to_bits())),
        (Type::F64, Type::U32) => unary!(|a: u64| f64::from(a as u32).to_bits()),
        (Type::F64, Type::S32) => unary!(|a: u64| f64::from(a as i32).to_bits()),
        (Type::F64, Type::S64) => unary!(|a: u64| (a as i64 as f64).to_bits()),
        (Type::F64, Type::U64) => unary!(|a: u64| (a as f64).to_bits()),
        (Type::F32, Type::U64) => unary!(|a: u64| u64::from((a as f32).to_bits())),
        (Type::F32, Type::S64) => unary!(|a: u64| u64::from((a as i64 as f32).to_bits())),
        _ => return None,
    })
}

/// Rounding towards zero is what Rust's casts do.
fn truncating(to: Type, from: Type, flags: Flags) -> Option<Handler> {
    let towards_zero = crate::arithmetic::exact::Rounding::Zero as u32 | Flags::INTEGRAL;
    if flags.0 != towards_zero {
        return None;
    }
    Some(match (to, from) {
        (Type::S32, Type::F32) => {
            unary!(|a: u64| u64::from(f32::from_bits(a as u32) as i32 as u32))
        }
        (Type::U32, Type::F32) => unary!(|a: u64| u64::from(f32::from_bits(a as u32) as u32)),
        _ => return None,
    })
}

impl<'a> Decoder<'_, 'a> {
    pub(crate) fn decode_convert(
        &mut self,
        i: &ptx::Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        if m.take("pack") {
            return self.convert_pack(i, m);
        }
        let flags = m.flags();
        let (to, from) = (m.ty()?, m.ty()?);
        if to.bits() == 32 && matches!(to, Type::F16x2 | Type::Bf16x2) && from == Type::F32 {
            return self.convert_pair(i, to, from, flags);
        }
        if matches!(to, Type::E4m3x2 | Type::E5m2x2) || matches!(from, Type::E4m3x2 | Type::E5m2x2)
        {
            return self.convert_pair(i, to, from, flags);
        }
        let (Some(b), Some(c)) = (number(to), number(from)) else {
            return Err(Problem::Unsupported);
        };
        self.count(i, 2)?;
        let a = self.read(&i.operands[1], from)?;
        let (d, register) = self.write_typed(&i.operands[0])?;
        let width = if to.is_float() { to.bits() } else { register.bits().max(to.bits()).min(64) };
        // An integer result that the flags round needs no rounding when it comes from an integer.
        if let Some(run) = fast(to, from, Flags(flags)).filter(|_| width == to.bits()) {
            self.push(Build::new(run).d(d).a(a).transfer(Transfer::Compute));
            return Ok(());
        }
        let build = Build::new(convert).d(d).a(a).x(flags).transfer(Transfer::Compute);
        self.push(build.with(|i| (i.b, i.c, i.e) = (b, c, width)));
        Ok(())
    }

    /// Conversions of two values at a time.
    fn convert_pair(
        &mut self,
        i: &ptx::Instruction<'a>,
        to: Type,
        from: Type,
        flags: u32,
    ) -> Result<(), Problem> {
        use crate::arithmetic::exact::{BF16, F16, F32};
        let run: Handler = match (to, from) {
            (Type::F16x2, Type::F32) => binary_with!(|a, b, f| convert::pack_halves(a, b, F16, f)),
            (Type::Bf16x2, Type::F32) => {
                binary_with!(|a, b, f| convert::pack_halves(a, b, BF16, f))
            }
            (Type::E4m3x2, Type::F32) => {
                binary_with!(|a, b, f| convert::pack_bytes(a, b, Type::E4m3x2, F32, f))
            }
            (Type::E5m2x2, Type::F32) => {
                binary_with!(|a, b, f| convert::pack_bytes(a, b, Type::E5m2x2, F32, f))
            }
            (Type::E4m3x2, Type::F16x2) => unary_with!(|a: u64, f| {
                convert::pack_bytes(a >> 16, a & 0xffff, Type::E4m3x2, F16, f)
            }),
            (Type::E5m2x2, Type::F16x2) => unary_with!(|a: u64, f| {
                convert::pack_bytes(a >> 16, a & 0xffff, Type::E5m2x2, F16, f)
            }),
            (Type::F16x2, Type::E4m3x2) => {
                unary_with!(|a, f| convert::unpack_bytes(a, Type::E4m3x2, f))
            }
            (Type::F16x2, Type::E5m2x2) => {
                unary_with!(|a, f| convert::unpack_bytes(a, Type::E5m2x2, f))
            }
            _ => return Err(Problem::Unsupported),
        };
        let two = from == Type::F32;
        self.count(i, if two { 3 } else { 2 })?;
        let mut build = Build::new(run).a(self.read(&i.operands[1], from)?).x(flags);
        if two {
            build = build.b(self.read(&i.operands[2], from)?);
        }
        let d = self.write(&i.operands[0])?;
        self.push(build.d(d));
        Ok(())
    }

    /// `cvt.pack.sat.u8.s32.b32`
    fn convert_pack(
        &mut self,
        i: &ptx::Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        m.ignore(&["sat"]);
        let (to, from) = (m.ty()?, m.ty()?);
        let third = m.pick(Type::named).is_some();
        let run: Handler = match to {
            Type::U8 => ternary!(|a, b, c| convert::pack_integers(a, b, c, Type::U8)),
            Type::S8 => ternary!(|a, b, c| convert::pack_integers(a, b, c, Type::S8)),
            Type::U16 => ternary!(|a, b, c| convert::pack_integers(a, b, c, Type::U16)),
            Type::S16 => ternary!(|a, b, c| convert::pack_integers(a, b, c, Type::S16)),
            _ => return Err(Problem::Unsupported),
        };
        let a = self.read(self.operand(i, 1)?, from)?;
        let b = self.read(self.operand(i, 2)?, from)?;
        let c = if third { self.read(self.operand(i, 3)?, Type::B32)? } else { self.constant(0) };
        let d = self.write(&i.operands[0])?;
        self.push(Build::new(run).d(d).a(a).b(b).c(c));
        Ok(())
    }
}
