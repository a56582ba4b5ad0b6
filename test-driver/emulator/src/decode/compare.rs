//! `setp`, `set`, `selp`, `slct`.
//!
//! PTX ISA, "Comparison and Selection Instructions".

use super::build::Build;
use super::function::Decoder;
use super::modifiers::Modifiers;
use super::problem::Problem;
use crate::arithmetic::compare::{self, Comparison};
use crate::arithmetic::half::{Binary16, Brain16};
use crate::arithmetic::{Flags, bits};
use crate::execute::instructions::register;
use crate::execute::instructions::register::{binary, unary};
use crate::execute::{Handler, Instruction as Decoded, Machine, Transfer};
use crate::ptx;
use crate::ptx::{Operand, Type};

/// The handler of one comparison of one type.
macro_rules! comparing {
    ($comparison:ident, $order:expr) => {{
        fn run(m: &mut Machine<'_>, i: &Decoded, pc: u32) -> u32 {
            let order = $order(m.get(i.a), m.get(i.b), Flags(i.x));
            m.set(i.d, u64::from(Comparison::$comparison.holds(order)));
            pc + 1
        }
        run as Handler
    }};
}

macro_rules! by_comparison {
    ($comparison:expr, $order:expr, [$($name:ident)*]) => {
        match $comparison { $(Comparison::$name => comparing!($name, $order),)* }
    };
}

macro_rules! every {
    ($comparison:expr, $order:expr) => {
        by_comparison!($comparison, $order, [
            Equal NotEqual Less LessEqual Greater GreaterEqual EqualUnordered NotEqualUnordered
            LessUnordered LessEqualUnordered GreaterUnordered GreaterEqualUnordered Ordered Unordered
        ])
    };
}

fn handler(comparison: Comparison, ty: Type) -> Option<Handler> {
    Some(match ty {
        Type::U16 | Type::B16 => every!(comparison, compare::integers::<u16>),
        Type::U32 | Type::B32 => every!(comparison, compare::integers::<u32>),
        Type::U64 | Type::B64 => every!(comparison, compare::integers::<u64>),
        Type::S16 => every!(comparison, compare::integers::<i16>),
        Type::S32 => every!(comparison, compare::integers::<i32>),
        Type::S64 => every!(comparison, compare::integers::<i64>),
        Type::F32 => every!(comparison, compare::floats::<f32>),
        Type::F64 => every!(comparison, compare::floats::<f64>),
        Type::F16 | Type::F16x2 => every!(comparison, compare::halves::<Binary16>),
        Type::Bf16 | Type::Bf16x2 => every!(comparison, compare::halves::<Brain16>),
        _ => return None,
    })
}

/// The operation that joins a comparison and a predicate.
#[derive(Clone, Copy)]
struct Combining {
    run: Handler,
    transfer: Transfer,
    predicate: u32,
}

impl Combining {
    fn build(self, d: u32, compared: u32) -> Build {
        Build::new(self.run).d(d).a(compared).b(self.predicate).transfer(self.transfer)
    }
}

/// What all results of one comparison share.
struct Comparing {
    run: Handler,
    flags: u32,
    combine: Option<Combining>,
}

impl<'a> Decoder<'_, 'a> {
    pub(crate) fn decode_compare(
        &mut self,
        i: &ptx::Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        let flags = m.flags();
        let comparison = m.pick(Comparison::named).ok_or(Problem::Unsupported)?;
        let combine = m.pick(|word| {
            Some(match word {
                "and" => (binary!(bits::and), Transfer::And),
                "or" => (binary!(bits::or), Transfer::Or),
                "xor" => (binary!(bits::xor), Transfer::Compute),
                _ => return None,
            })
        });
        let result = if i.opcode == "set" { Some(m.ty()?) } else { None };
        let ty = m.ty()?;
        let run = handler(comparison, ty).ok_or(Problem::Unsupported)?;
        self.count(i, if combine.is_some() { 4 } else { 3 })?;
        let (a, b) = (self.read(&i.operands[1], ty)?, self.read(&i.operands[2], ty)?);
        let combine = match combine {
            Some((run, transfer)) => {
                Some(Combining { run, transfer, predicate: self.predicate(&i.operands[3])? })
            }
            None => None,
        };
        let comparing = Comparing { run, flags, combine };
        match result {
            Some(result) => self.set_value(i, result, ty, &comparing, a, b),
            None => self.set_predicates(i, ty, &comparing, a, b),
        }
    }

    /// The comparison, combined with the predicate if there is one.
    fn compare(&mut self, comparing: &Comparing, d: u32, a: u32, b: u32) {
        let Some(combining) = comparing.combine else {
            self.push(Build::new(comparing.run).d(d).a(a).b(b).x(comparing.flags));
            return;
        };
        let alone = self.scratch();
        self.push(Build::new(comparing.run).d(alone).a(a).b(b).x(comparing.flags));
        self.push(combining.build(d, alone));
    }

    fn upper(&mut self, slot: u32) -> u32 {
        let upper = self.scratch();
        let sixteen = self.constant(16);
        self.push(Build::new(binary!(bits::shift_right::<u32>)).d(upper).a(slot).b(sixteen));
        upper
    }

    fn set_predicates(
        &mut self,
        i: &ptx::Instruction<'a>,
        ty: Type,
        comparing: &Comparing,
        a: u32,
        b: u32,
    ) -> Result<(), Problem> {
        let (d, second) = match &i.operands[0] {
            Operand::Pair(first, second) => (self.write(first)?, Some(self.write(second)?)),
            operand => (self.write(operand)?, None),
        };
        if matches!(ty, Type::F16x2 | Type::Bf16x2) {
            let Some(second) = second else {
                return Problem::error("a comparison of packed numbers needs two results");
            };
            let (upper_a, upper_b) = (self.upper(a), self.upper(b));
            self.compare(comparing, second, upper_a, upper_b);
            self.compare(comparing, d, a, b);
            return Ok(());
        }
        let Some(second) = second else {
            self.compare(comparing, d, a, b);
            return Ok(());
        };
        // The second result is that of the opposite comparison.
        let (alone, opposite) = (self.scratch(), self.scratch());
        self.push(Build::new(comparing.run).d(alone).a(a).b(b).x(comparing.flags));
        self.push(Build::new(unary!(bits::not_predicate)).d(opposite).a(alone));
        for (result, value) in [(second, opposite), (d, alone)] {
            match comparing.combine {
                Some(combining) => self.push(combining.build(result, value)),
                None => self.push(Build::new(register::copy).d(result).a(value)),
            }
        }
        Ok(())
    }

    /// `set`: all ones or 1.0 for true.
    fn set_value(
        &mut self,
        i: &ptx::Instruction<'a>,
        result: Type,
        ty: Type,
        comparing: &Comparing,
        a: u32,
        b: u32,
    ) -> Result<(), Problem> {
        let truth = match result {
            Type::F32 => 0x3f80_0000,
            Type::F16 | Type::F16x2 => 0x3c00,
            Type::Bf16 | Type::Bf16x2 => 0x3f80,
            Type::U16 | Type::S16 => 0xffff,
            Type::U32 | Type::S32 => 0xffff_ffff,
            _ => return Err(Problem::Unsupported),
        };
        let d = self.write(&i.operands[0])?;
        let (yes, no) = (self.constant(truth), self.constant(0));
        let predicate = self.scratch();
        if !matches!(ty, Type::F16x2 | Type::Bf16x2) {
            self.compare(comparing, predicate, a, b);
            self.push(Build::new(register::select).d(d).a(yes).b(no).c(predicate));
            return Ok(());
        }
        let half = self.constant(truth & 0xffff);
        let mut parts = [0; 2];
        let (upper_a, upper_b) = (self.upper(a), self.upper(b));
        for (part, (a, b)) in parts.iter_mut().zip([(a, b), (upper_a, upper_b)]) {
            *part = self.scratch();
            self.compare(comparing, predicate, a, b);
            self.push(Build::new(register::select).d(*part).a(half).b(no).c(predicate));
        }
        let pool = self.pool(&parts);
        let build = Build::new(register::pack).d(d).reads(parts[0]).reads(parts[1]).x(16);
        self.push(build.with(|i| (i.e, i.c) = (pool, 2)));
        Ok(())
    }

    /// `selp` and `slct`
    pub(crate) fn decode_select(
        &mut self,
        i: &ptx::Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        let flags = m.flags();
        let ty = m.ty()?;
        self.count(i, 4)?;
        let (run, by): (Handler, Type) = match i.opcode {
            "selp" => (register::select, Type::Pred),
            _ => match m.ty()? {
                Type::S32 => (register::select_by_sign, Type::S32),
                Type::F32 => (register::select_by_float, Type::F32),
                _ => return Err(Problem::Unsupported),
            },
        };
        let (a, b) = (self.read(&i.operands[1], ty)?, self.read(&i.operands[2], ty)?);
        let c = self.read(&i.operands[3], by)?;
        let d = self.write(&i.operands[0])?;
        let transfer = if by == Type::Pred { Transfer::Select } else { Transfer::Compute };
        let build = Build::new(run).d(d).a(a).b(b).c(c).x(flags);
        self.push(build.transfer(transfer));
        Ok(())
    }
}
