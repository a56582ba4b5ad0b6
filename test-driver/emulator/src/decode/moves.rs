//! `mov`, `cvta`, `isspacep`.
//!
//! PTX ISA, "Data Movement and Conversion Instructions".

use super::build::Build;
use super::function::Decoder;
use super::modifiers::Modifiers;
use super::names::Entity;
use super::problem::Problem;
use crate::execute::Transfer;
use crate::execute::instructions::{Special, address, register};
use crate::launch::Space;
use crate::ptx::{Instruction, Operand, Type};

impl<'a> Decoder<'_, 'a> {
    pub(crate) fn decode_mov(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        let lanes = m.pick(vector);
        let ty = m.ty()?;
        self.count(i, 2)?;
        let (target, source) = (&i.operands[0], &i.operands[1]);
        match source {
            source if lanes.is_some() => self.move_vector(target, source, ty, lanes.unwrap_or(0)),
            source if self.is_vector(target) => self.unpack(target, source, ty),
            source if self.is_vector(source) => self.pack(target, source, ty),
            Operand::Name(name, 0) if self.is_special(name) => {
                let (special, dimension) = Special::named(name).unwrap_or((Special::Zero, 0));
                let slot = self.write(target)?;
                self.push_special(slot, special, dimension);
                Ok(())
            }
            source => self.move_one(target, source, ty),
        }
    }

    fn move_one(
        &mut self,
        target: &Operand<'a>,
        source: &Operand<'a>,
        ty: Type,
    ) -> Result<(), Problem> {
        if ty == Type::B128 {
            let (from, to) = (self.wide(source)?, self.wide(target)?);
            return self.halves([to, to + 1], &[from, from + 1]);
        }
        let (from, width) = (self.read(source, ty)?, ty.bits().min(64));
        let (to, register) = self.write_typed(target)?;
        let wider = self.type_of(source).is_some_and(|ty| ty.bits() > width);
        let build = if wider || register.bits() < width {
            Build::new(register::copy_low).x(width.min(register.bits()))
        } else {
            Build::new(register::copy)
        };
        self.push(build.d(to).a(from));
        Ok(())
    }

    /// `mov.v4.u32 v, w;`: each part is read before any is written.
    fn move_vector(
        &mut self,
        target: &Operand<'a>,
        source: &Operand<'a>,
        ty: Type,
        lanes: u32,
    ) -> Result<(), Problem> {
        let from = match source {
            Operand::Name(name, 0) if self.is_special(name) && !name.contains('.') => {
                self.special_members(name, lanes)
            }
            source => self.read_parts(source, ty)?,
        };
        let to = self.write_parts(target)?;
        if from.len() != lanes as usize || to.len() != lanes as usize {
            return Problem::error(format!("both operands must be vectors of {lanes}"));
        }
        let held: Vec<u32> = from.iter().map(|_| self.scratch()).collect();
        for (&held, &from) in held.iter().zip(&from) {
            self.push(Build::new(register::copy).d(held).a(from));
        }
        for ((to, _), held) in to.into_iter().zip(held) {
            self.push(Build::new(register::copy).d(to).a(held));
        }
        Ok(())
    }

    /// The members of `%tid` and its like, the fourth of which is zero.
    fn special_members(&mut self, name: &str, lanes: u32) -> Vec<u32> {
        let special = Special::named(name).map_or(Special::Zero, |(special, _)| special);
        (0..lanes)
            .map(|dimension| {
                let slot = self.scratch();
                let special = if dimension < 3 { special } else { Special::Zero };
                self.push_special(slot, special, dimension.min(2));
                slot
            })
            .collect()
    }

    /// Whether a name is that of a special register, and of nothing that is declared.
    fn is_special(&mut self, name: &str) -> bool {
        Special::named(name).is_some() && self.names.find(name).is_none()
    }

    fn pack(
        &mut self,
        target: &Operand<'a>,
        source: &Operand<'a>,
        ty: Type,
    ) -> Result<(), Problem> {
        let parts = self.part_count(source);
        let are_bits = matches!(ty, Type::B16 | Type::B32 | Type::B64 | Type::B128);
        if !are_bits {
            return Problem::error(format!(
                "{parts} registers cannot be packed into the type `.{}`, which must be `.b16`, `.b32`, `.b64` or \
                 `.b128`",
                ty.name()
            ));
        }
        let width = ty.bits() / parts.max(1);
        let slots = self.read_parts(source, part_type(width)?)?;
        if ty == Type::B128 {
            let d = self.wide(target)?;
            return self.halves([d, d + 1], &slots);
        }
        let d = self.write(target)?;
        let pool = self.pool(&slots);
        let mut build = Build::new(register::pack).d(d).x(width).transfer(Transfer::Pack);
        for slot in slots {
            build = build.reads(slot);
        }
        self.push(build.with(|i| (i.e, i.c) = (pool, parts)));
        Ok(())
    }

    /// The two words of a 128-bit register.
    fn halves(&mut self, to: [u32; 2], from: &[u32]) -> Result<(), Problem> {
        let &[low, high] = from else { return Err(Problem::Unsupported) };
        for (to, from) in [(to[0], low), (to[1], high)] {
            self.push(Build::new(register::copy).d(to).a(from));
        }
        Ok(())
    }

    fn part_count(&mut self, operand: &Operand<'a>) -> u32 {
        match operand {
            Operand::Vector(parts) => parts.len() as u32,
            Operand::Name(name, _) => match self.names.find(name) {
                Some(Entity::Vector { lanes, .. }) => lanes,
                _ => 1,
            },
            _ => 1,
        }
    }

    fn unpack(
        &mut self,
        target: &Operand<'a>,
        source: &Operand<'a>,
        ty: Type,
    ) -> Result<(), Problem> {
        let parts = self.write_parts(target)?;
        let width = ty.bits() / parts.len().max(1) as u32;
        part_type(width)?;
        let slots: Vec<u32> = parts.iter().map(|&(slot, _)| slot).collect();
        if ty == Type::B128 {
            let a = self.wide(source)?;
            let &[low, high] = slots.as_slice() else { return Err(Problem::Unsupported) };
            return self.halves([low, high], &[a, a + 1]);
        }
        let a = self.read(source, ty)?;
        let pool = self.pool(&slots);
        let mut build = Build::new(register::unpack).a(a).x(width);
        for slot in slots {
            build = build.writes(slot);
        }
        self.push(build.with(|i| (i.e, i.c) = (pool, parts.len() as u32)));
        Ok(())
    }

    /// `cvta` and `isspacep`
    pub(crate) fn decode_address(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        let back = m.take("to");
        let space = m.pick(space_named).ok_or(Problem::Unsupported)?;
        let run = match i.opcode {
            "isspacep" => address::is_in_space,
            "cvta" if back => address::from_generic,
            "cvta" => address::to_generic,
            _ => return Err(Problem::Unsupported),
        };
        let ty = if i.opcode == "cvta" { m.ty()? } else { Type::B64 };
        self.count(i, 2)?;
        let space = self.home_of_parameters(space);
        let a = self.read(&i.operands[1], ty)?;
        let d = self.write(&i.operands[0])?;
        self.push(Build::new(run).d(d).a(a).x(space as u32));
        Ok(())
    }

    /// Parameters of a function that is not a kernel lie in its frame.
    pub(crate) fn home_of_parameters(&self, space: Space) -> Space {
        if space == Space::Param && !self.function.entry { Space::Local } else { space }
    }
}

fn part_type(width: u32) -> Result<Type, Problem> {
    Ok(match width {
        8 => Type::B8,
        16 => Type::B16,
        32 => Type::B32,
        64 => Type::B64,
        _ => return Err(Problem::Unsupported),
    })
}

/// The space that a modifier names; a block that is its own cluster has one shared memory.
pub(crate) fn space_named(word: &str) -> Option<Space> {
    Some(match word {
        "global" | "const" => Space::Global,
        "shared" | "shared::cta" | "shared::cluster" => Space::Shared,
        "local" => Space::Local,
        "param" | "param::entry" | "param::func" => Space::Param,
        _ => return None,
    })
}

/// The number of parts that a modifier names.
pub(super) fn vector(word: &str) -> Option<u32> {
    Some(match word {
        "v2" => 2,
        "v4" => 4,
        "v8" => 8,
        _ => return None,
    })
}
