//! Dispatch on the opcode, and operations from registers to a register.

use super::build::Build;
use super::function::Decoder;
use super::modifiers::Modifiers;
use super::operands::Plain;
use super::problem::Problem;
use super::{arithmetic, float, logic};
use crate::execute::Transfer;
use crate::execute::instructions::register;
use crate::ptx::{Instruction, Operand, Type};

/// Whether an instruction only makes registers of registers.
fn stays_in_registers(opcode: &str) -> bool {
    let elsewhere = [
        "ld",
        "ldu",
        "st",
        "atom",
        "red",
        "call",
        "brx",
        "bra",
        "shfl",
        "vote",
        "match",
        "redux",
        "activemask",
        "elect",
        "bar",
        "barrier",
        "mma",
        "ldmatrix",
        "stmatrix",
        "wmma",
        "wgmma",
        "cp",
        "mbarrier",
        "ret",
        "exit",
        "trap",
        "brkpt",
        "nanosleep",
    ];
    !elsewhere.contains(&opcode)
}

/// Whether the registers of an instruction are as wide as its type. Those of the others may be wider, or have
/// types of their own.
fn is_strict(opcode: &str) -> bool {
    let is_strict =
        ["shfl", "vote", "match", "redux", "elect", "bar", "barrier", "atom", "red", "brx"];
    is_strict.contains(&opcode)
        || stays_in_registers(opcode)
            && !matches!(opcode, "cvt" | "cvta" | "isspacep" | "mapa" | "createpolicy")
}

/// The place and the length of a bit field are bytes, where they are numbers.
fn check_bit_field(i: &Instruction<'_>) -> Result<(), Problem> {
    if !matches!(i.opcode, "bfe" | "bfi") {
        return Ok(());
    }
    let numbers = i.operands.iter().rev().take(2);
    if numbers.clone().any(|operand| matches!(operand, Operand::Integer(256..))) {
        return Problem::error(format!("`{}` takes numbers from 0 to 255", i.opcode));
    }
    Ok(())
}

impl<'a> Decoder<'_, 'a> {
    pub(crate) fn decode_instruction(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        self.check_rules(i)?;
        let start = self.builds.len();
        self.is_strict = is_strict(i.opcode);
        check_bit_field(i)?;
        match i.opcode {
            "mov" => self.decode_mov(i, m)?,
            "ld" | "ldu" | "st" => self.decode_memory(i, m)?,
            "cvta" | "isspacep" | "mapa" => self.decode_address(i, m)?,
            "cvt" => self.decode_convert(i, m)?,
            "setp" | "set" => self.decode_compare(i, m)?,
            "selp" | "slct" => self.decode_select(i, m)?,
            "atom" | "red" => self.decode_atomic(i, m)?,
            "call" => self.decode_call(i, m)?,
            "brx" => self.decode_indexed_branch(i, m)?,
            "shfl" | "vote" | "match" | "redux" | "activemask" | "elect" => {
                self.decode_warp(i, m)?;
            }
            "bar" | "barrier" => self.decode_barrier(i, m)?,
            "mma" | "ldmatrix" | "stmatrix" => self.decode_matrix(i, m)?,
            "wmma" => self.decode_fragment(i, m)?,
            "wgmma" => self.decode_group(i, m)?,
            "cp" | "mbarrier" => self.decode_asynchronous(i, m)?,
            "createpolicy" => self.create_policy(i, m)?,
            "lop3" | "bfi" => self.decode_four(i, m)?,
            "addc" | "subc" | "madc" => self.decode_carry(i, m)?,
            "add" | "sub" | "mad" if i.modifiers.contains(&"cc") => self.decode_carry(i, m)?,
            _ => match self.control(i, m)? {
                Some(()) => {}
                None => self.decode_plain(i, m)?,
            },
        }
        if stays_in_registers(i.opcode) {
            self.pass_undefined_on(start);
        }
        m.finish()
    }

    /// The instructions from `start` on only make registers of registers.
    fn pass_undefined_on(&mut self, start: usize) {
        for build in &mut self.builds[start..] {
            if build.transfer == Transfer::Use {
                build.transfer = Transfer::Compute;
            }
        }
    }

    /// An operation from registers to a register.
    fn decode_plain(&mut self, i: &Instruction<'a>, m: &mut Modifiers<'_>) -> Result<(), Problem> {
        let plain = match logic::plain(i.opcode, m)? {
            Some(plain) => plain,
            None => {
                let ty = m.ty()?;
                let found = arithmetic::plain(i.opcode, ty, m)?;
                match found {
                    Some(plain) => plain,
                    None => float::plain(i.opcode, ty, m)?.ok_or(Problem::Unsupported)?,
                }
            }
        };
        m.finish()?;
        if matches!(i.opcode, "min" | "max") && i.operands.len() == 4 {
            return self.decode_three_way(i, &plain);
        }
        self.count(i, 1 + plain.sources.len())?;
        let mut build = Build::new(plain.run).x(plain.flags);
        for (number, &ty) in plain.sources.iter().enumerate() {
            let slot = self.read(&i.operands[number + 1], ty)?;
            build = match number {
                0 => build.a(slot),
                1 => build.b(slot),
                _ => build.c(slot),
            };
        }
        let d = self.write(&i.operands[0])?;
        let transfer = match i.opcode {
            "and" => Transfer::And,
            "or" if plain.sources[0] == Type::Pred => Transfer::Or,
            _ => Transfer::Compute,
        };
        self.push(build.d(d).transfer(transfer));
        Ok(())
    }

    /// `min` and `max` of three operands, which sm_100 has: two of two.
    fn decode_three_way(&mut self, i: &Instruction<'a>, plain: &Plain) -> Result<(), Problem> {
        let mut result = self.read(&i.operands[1], plain.sources[0])?;
        for operand in &i.operands[2..] {
            let other = self.read(operand, plain.sources[0])?;
            let both = self.scratch();
            self.push(Build::new(plain.run).d(both).a(result).b(other).x(plain.flags));
            result = both;
        }
        let d = self.write(&i.operands[0])?;
        self.push(Build::new(register::copy).d(d).a(result));
        Ok(())
    }
}
