//! Logic, shifts and bit fields.
//!
//! PTX ISA, "Logic and Shift Instructions".

use super::arithmetic::by_type;
use super::build::Build;
use super::function::Decoder;
use super::modifiers::Modifiers;
use super::operands::{Plain, immediate};
use super::problem::Problem;
use crate::arithmetic::bits;
use crate::execute::instructions::register;
use crate::execute::instructions::register::{binary, ternary, unary};
use crate::execute::{Handler, Transfer};
use crate::ptx;
use crate::ptx::Type;

type Found = Result<Option<Plain>, Problem>;

/// The handler for a type of 32 or 64 bits.
macro_rules! by_long {
    ($ty:expr, $make:ident, $function:ident $(, $extra:tt)?) => {
        match $ty {
            Type::U32 | Type::B32 => $make!(bits::$function::<u32 $(, $extra)?>),
            Type::S32 => $make!(bits::$function::<i32 $(, $extra)?>),
            Type::U64 | Type::B64 => $make!(bits::$function::<u64 $(, $extra)?>),
            Type::S64 => $make!(bits::$function::<i64 $(, $extra)?>),
            _ => return Err(Problem::Unsupported),
        }
    };
}

/// Operations on bits; `None` when the opcode is not of this kind.
pub(crate) fn plain(opcode: &str, m: &mut Modifiers<'_>) -> Found {
    match opcode {
        "and" | "or" | "xor" => {
            let ty = m.ty()?;
            let run = match opcode {
                "and" => binary!(bits::and),
                "or" => binary!(bits::or),
                _ => binary!(bits::xor),
            };
            Ok(Some(Plain::new(run, &[ty; 2])))
        }
        "not" | "cnot" => invert(opcode, m.ty()?),
        "shl" | "shr" => shift(opcode, m.ty()?),
        "shf" => funnel(m),
        "bfe" => {
            let ty = m.ty()?;
            Ok(Some(Plain::new(by_long!(ty, ternary, extract), &[ty, Type::U32, Type::U32])))
        }
        "prmt" => permute(m),
        "popc" | "clz" | "brev" | "bfind" => count(opcode, m),
        "fns" => {
            m.ty()?;
            Ok(Some(Plain::new(ternary!(bits::find_nth), &[Type::B32, Type::U32, Type::S32])))
        }
        "bmsk" | "szext" => mask(opcode, m),
        _ => Ok(None),
    }
}

fn invert(opcode: &str, ty: Type) -> Found {
    let run = match (opcode, ty) {
        ("not", Type::Pred) => unary!(bits::not_predicate),
        ("not", _) => by_type!(ty, unary, bits::not),
        _ => by_type!(ty, unary, bits::is_zero),
    };
    Ok(Some(Plain::new(run, &[ty])))
}

fn shift(opcode: &str, ty: Type) -> Found {
    let run = match opcode {
        "shl" => by_type!(ty, binary, bits::shift_left),
        _ => by_type!(ty, binary, bits::shift_right),
    };
    Ok(Some(Plain::new(run, &[ty, Type::U32])))
}

fn funnel(m: &mut Modifiers<'_>) -> Found {
    let (left, wrap) = (m.take("l"), m.take("wrap"));
    m.ignore(&["r", "clamp"]);
    m.ty()?;
    let run = match (left, wrap) {
        (true, true) => ternary!(bits::funnel_left::<true>),
        (true, false) => ternary!(bits::funnel_left::<false>),
        (false, true) => ternary!(bits::funnel_right::<true>),
        (false, false) => ternary!(bits::funnel_right::<false>),
    };
    Ok(Some(Plain::new(run, &[Type::B32, Type::B32, Type::U32])))
}

fn permute(m: &mut Modifiers<'_>) -> Found {
    m.ty()?;
    let run = match m.first() {
        None => ternary!(bits::permute),
        Some("f4e") => ternary!(bits::permute_forward),
        Some("b4e") => ternary!(bits::permute_backward),
        Some("rc8") => ternary!(bits::permute_replicate),
        Some("ecl") => ternary!(bits::permute_clamp_left),
        Some("ecr") => ternary!(bits::permute_clamp_right),
        Some("rc16") => ternary!(bits::permute_replicate_half),
        Some(_) => return Err(Problem::Unsupported),
    };
    m.ignore(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]);
    Ok(Some(Plain::new(run, &[Type::B32; 3])))
}

fn count(opcode: &str, m: &mut Modifiers<'_>) -> Found {
    let shift = m.take("shiftamt");
    let ty = m.ty()?;
    let run = match opcode {
        "popc" => by_long!(ty, unary, population),
        "clz" => by_long!(ty, unary, leading_zeros),
        "brev" => by_long!(ty, unary, reverse),
        _ if shift => by_long!(ty, unary, find, true),
        _ => by_long!(ty, unary, find, false),
    };
    Ok(Some(Plain::new(run, &[ty])))
}

fn mask(opcode: &str, m: &mut Modifiers<'_>) -> Found {
    let wrap = m.take("wrap");
    m.ignore(&["clamp"]);
    let ty = m.ty()?;
    let run = match (opcode, ty, wrap) {
        ("bmsk", _, true) => binary!(bits::mask::<true>),
        ("bmsk", _, false) => binary!(bits::mask::<false>),
        (_, Type::S32, true) => binary!(bits::extend::<i32, true>),
        (_, Type::S32, false) => binary!(bits::extend::<i32, false>),
        (_, _, true) => binary!(bits::extend::<u32, true>),
        (_, _, false) => binary!(bits::extend::<u32, false>),
    };
    Ok(Some(Plain::new(run, &[ty, Type::U32])))
}

impl<'a> Decoder<'_, 'a> {
    /// `lop3` and `bfi`, which have four operands.
    pub(crate) fn decode_four(
        &mut self,
        i: &ptx::Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        if i.opcode == "lop3" {
            return self.decode_lookup(i, m);
        }
        let ty = m.ty()?;
        let d = self.write(self.operand(i, 0)?)?;
        let a = self.read(self.operand(i, 1)?, ty)?;
        let b = self.read(self.operand(i, 2)?, ty)?;
        let c = self.read(self.operand(i, 3)?, Type::U32)?;
        self.count(i, 5)?;
        let last = &i.operands[4];
        let run: Handler =
            if ty.bits() == 64 { register::insert::<u64> } else { register::insert::<u32> };
        let length = self.read(last, Type::U32)?;
        self.push(Build::new(run).d(d).a(a).b(b).c(c).e(length));
        Ok(())
    }

    /// `lop3`; with `.and` or `.or` it writes a predicate, too: whether the result has a bit, combined with another
    /// predicate.
    fn decode_lookup(
        &mut self,
        i: &ptx::Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        let ty = m.ty()?;
        let combine: Option<(Handler, Transfer)> = m.pick(|word| match word {
            "and" => Some((binary!(bits::and) as Handler, Transfer::And)),
            "or" => Some((binary!(bits::or) as Handler, Transfer::Or)),
            _ => None,
        });
        self.count(i, if combine.is_some() { 6 } else { 5 })?;
        let (result, predicate) = match (&i.operands[0], combine) {
            (ptx::Operand::Pair(first, second), Some(combine)) => {
                (&**first, Some((self.write(second)?, combine)))
            }
            (_, Some(_)) => return Problem::error("`lop3` with a predicate needs two results"),
            (operand, None) => (operand, None),
        };
        let d = self.write(result)?;
        let [a, b, c] = [1, 2, 3].map(|place| self.read(&i.operands[place], ty));
        let Some(table) = immediate(&i.operands[4], Type::B32) else {
            return Problem::error("the table of lop3 must be a number");
        };
        let combine = match predicate {
            Some((place, combine)) => Some((place, combine, self.predicate(&i.operands[5])?)),
            None => None,
        };
        self.push(Build::new(register::lookup_3).d(d).a(a?).b(b?).c(c?).x(table as u32));
        if let Some((place, (run, transfer), other)) = combine {
            let has_bit = self.scratch();
            self.push(Build::new(unary!(bits::has_bit)).d(has_bit).a(d));
            self.push(Build::new(run).d(place).a(has_bit).b(other).transfer(transfer));
        }
        Ok(())
    }
}
