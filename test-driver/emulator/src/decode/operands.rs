//! Operands: their slots, addresses and literals.

use super::build::Build;
use super::function::Decoder;
use super::names::Entity;
use super::problem::Problem;
use crate::arithmetic::{bits, integer};
use crate::execute::Handler;
use crate::execute::instructions::register::{binary, unary};
use crate::execute::instructions::{Special, address, read_special};
use crate::program::Symbol;
use crate::ptx::{Instruction, Operand, Type};

/// How an operation on registers is run.
pub(crate) struct Plain {
    pub(crate) run: Handler,
    /// Types of the operands after the destination.
    pub(crate) sources: Vec<Type>,
    /// The word of modifiers.
    pub(crate) flags: u32,
}

impl Plain {
    pub(crate) fn new(run: Handler, sources: &[Type]) -> Plain {
        Plain { run, sources: sources.to_vec(), flags: 0 }
    }

    pub(crate) fn with(run: Handler, sources: &[Type], flags: u32) -> Plain {
        Plain { run, sources: sources.to_vec(), flags }
    }
}

impl<'a> Decoder<'_, 'a> {
    /// Checks the number of operands.
    pub(crate) fn count(&self, i: &Instruction<'_>, wanted: usize) -> Result<(), Problem> {
        let found = i.operands.len();
        if found == wanted {
            return Ok(());
        }
        Problem::error(format!("`{}` has {found} operands, not {wanted}", i.mnemonic()))
    }

    /// The operand at `place`, which must be there.
    pub(crate) fn operand<'i>(
        &self,
        i: &'i Instruction<'a>,
        place: usize,
    ) -> Result<&'i Operand<'a>, Problem> {
        i.operands.get(place).ok_or_else(|| {
            Problem::Error(format!("`{}` lacks operand {}", i.mnemonic(), place + 1))
        })
    }

    /// The slot of an operand that is read.
    pub(crate) fn read(&mut self, operand: &Operand<'a>, ty: Type) -> Result<u32, Problem> {
        match operand {
            Operand::Name(name, offset) => {
                self.check_register(name, ty)?;
                self.read_name(name, *offset)
            }
            Operand::Sink => {
                let slot = self.constant(0);
                Ok(slot)
            }
            Operand::Not(name) => {
                let slot = self.read_name(name, 0)?;
                let inverted = self.scratch();
                let run = unary!(bits::not_predicate);
                self.push(Build::new(run).d(inverted).a(slot));
                Ok(inverted)
            }
            _ => match immediate(operand, ty) {
                Some(value) => Ok(self.constant(value)),
                None => Problem::error(format!("the operand must have the type `.{}`", ty.name())),
            },
        }
    }

    /// Checks the register of an operand: it is a predicate where one is needed, and elsewhere as wide as the
    /// instruction's type, and of its kind (PTX ISA, "Operand Type Checking").
    fn check_register(&mut self, name: &str, wanted: Type) -> Result<(), Problem> {
        let Some(Entity::Register { ty: found, .. }) = self.names.find(name) else { return Ok(()) };
        let is_predicate = |ty| ty == Type::Pred;
        let fits = if is_predicate(found) || is_predicate(wanted) {
            found == wanted
        } else {
            !self.is_strict || found.bits() == wanted.bits() && !found.is_of_other_kind(wanted)
        };
        if fits {
            return Ok(());
        }
        let (found, wanted) = (found.name(), wanted.name());
        Problem::error(format!("`{name}` has the type `.{found}`, but must have `.{wanted}`"))
    }

    /// The slot of a predicate, which may be negated.
    pub(crate) fn predicate(&mut self, operand: &Operand<'a>) -> Result<u32, Problem> {
        self.read(operand, Type::Pred)
    }

    fn read_name(&mut self, name: &'a str, offset: i64) -> Result<u32, Problem> {
        if let Some(Entity::Register { slot, ty }) = self.names.find(name) {
            return self.sum(slot, ty, offset);
        }
        if let Some((special, dimension)) = Special::named(name) {
            if offset != 0 {
                return Problem::error(format!("a constant cannot be added to `{name}`"));
            }
            let slot = self.scratch();
            self.push_special(slot, special, dimension);
            return Ok(slot);
        }
        self.address(name, offset)
    }

    /// The slot of `%r1+4`, a sum of the register's width.
    fn sum(&mut self, slot: u32, ty: Type, offset: i64) -> Result<u32, Problem> {
        if offset == 0 {
            return Ok(slot);
        }
        let run = match ty.bits() {
            _ if ty.is_float() => {
                return Problem::error("a constant can be added to an integer only");
            }
            16 => binary!(integer::add::<u16>),
            32 => binary!(integer::add::<u32>),
            64 => binary!(integer::add::<u64>),
            _ => return Problem::error("a constant can be added to an integer only"),
        };
        let (sum, addend) = (self.scratch(), self.constant(offset as u64));
        self.push(Build::new(run).d(sum).a(slot).b(addend));
        Ok(sum)
    }

    pub(crate) fn push_special(&mut self, slot: u32, special: Special, dimension: u32) {
        let build = Build::new(read_special).d(slot).x(special as u32);
        let reads_clock = special.is_clock();
        self.push(Build { reads_clock, ..build.with(|i| i.e = dimension) });
    }

    /// The slot with the address of a variable or function.
    pub(crate) fn address(&mut self, name: &'a str, offset: i64) -> Result<u32, Problem> {
        match self.names.find(name) {
            Some(Entity::Frame { offset: start, .. }) => {
                let slot = self.scratch();
                let place = i64::from(start).wrapping_add(offset) as u32;
                self.push(Build::new(address::frame_address).d(slot).with(|i| i.b = place));
                self.define_parts(start);
                Ok(slot)
            }
            Some(Entity::Parameter { offset: start, .. }) => {
                Ok(self.constant(i64::from(start).wrapping_add(offset) as u64))
            }
            Some(Entity::Shared(index)) => Ok(self.address_of(Symbol::Shared(index), offset)),
            Some(Entity::Dynamic) => Ok(self.address_of(Symbol::Dynamic, offset)),
            Some(Entity::Register { slot, .. }) => Ok(slot),
            Some(Entity::Vector { .. }) => Problem::error(format!(
                "`{name}` is a vector: write one of its members, such as `{name}.x`"
            )),
            Some(Entity::Global(index)) => Ok(self.address_of(Symbol::Global(index), offset)),
            None => match self.context.symbols.find(name) {
                Some(symbol) => Ok(self.address_of(symbol, offset)),
                None => Problem::error(format!("`{name}` is not declared")),
            },
        }
    }

    /// The slot of an operand that is written.
    pub(crate) fn write(&mut self, operand: &Operand<'a>) -> Result<u32, Problem> {
        self.write_typed(operand).map(|(slot, _)| slot)
    }

    /// The slot of an operand that is written, and the type of its register.
    pub(crate) fn write_typed(&mut self, operand: &Operand<'a>) -> Result<(u32, Type), Problem> {
        match operand {
            Operand::Sink => Ok((self.scratch(), Type::B64)),
            Operand::Name(name, 0) => match self.names.find(name) {
                Some(Entity::Register { slot, ty }) => Ok((slot, ty)),
                Some(_) => Problem::error(format!("`{name}` is not a register")),
                None => Problem::error(format!("`{name}` is not declared")),
            },
            _ => Problem::error("this operand cannot be written"),
        }
    }

    /// Whether an operand is a list in braces or a register that is a vector.
    pub(crate) fn is_vector(&mut self, operand: &Operand<'a>) -> bool {
        match operand {
            Operand::Vector(_) => true,
            Operand::Name(name, 0) => matches!(self.names.find(name), Some(Entity::Vector { .. })),
            _ => false,
        }
    }

    /// The slots of the parts of a vector that is read.
    pub(crate) fn read_parts(
        &mut self,
        operand: &Operand<'a>,
        ty: Type,
    ) -> Result<Vec<u32>, Problem> {
        match operand {
            Operand::Vector(parts) => parts.iter().map(|part| self.read(part, ty)).collect(),
            operand => Ok(self.members(operand)?.into_iter().map(|(slot, _)| slot).collect()),
        }
    }

    /// The slots of the parts of a vector that is written, and their types.
    pub(crate) fn write_parts(
        &mut self,
        operand: &Operand<'a>,
    ) -> Result<Vec<(u32, Type)>, Problem> {
        match operand {
            Operand::Vector(parts) => parts.iter().map(|part| self.write_typed(part)).collect(),
            operand => self.members(operand),
        }
    }

    /// The members of a register that is a vector.
    fn members(&mut self, operand: &Operand<'a>) -> Result<Vec<(u32, Type)>, Problem> {
        if let Operand::Name(name, 0) = operand
            && let Some(Entity::Vector { slot, ty, lanes }) = self.names.find(name)
        {
            return Ok((slot..slot + lanes).map(|slot| (slot, ty)).collect());
        }
        Problem::error("the operand must be a vector of registers")
    }

    /// The slots of a destination that may have a second part after a bar.
    pub(crate) fn write_pair(&mut self, operand: &Operand<'a>) -> Result<(u32, u32), Problem> {
        match operand {
            Operand::Pair(first, second) => Ok((self.write(first)?, self.write(second)?)),
            _ => Ok((self.write(operand)?, self.scratch())),
        }
    }

    /// The type of the register that an operand names.
    pub(crate) fn type_of(&mut self, operand: &Operand<'a>) -> Option<Type> {
        match operand {
            Operand::Name(name, _) => match self.names.find(name) {
                Some(Entity::Register { ty, .. }) => Some(ty),
                _ => None,
            },
            _ => None,
        }
    }

    /// The first of the two slots of a register of 128 bits.
    pub(crate) fn wide(&mut self, operand: &Operand<'a>) -> Result<u32, Problem> {
        match operand {
            Operand::Name(name, 0) => match self.names.find(name) {
                Some(Entity::Register { slot, ty: Type::B128 }) => Ok(slot),
                _ => Problem::error(format!("`{name}` is not a register of 128 bits")),
            },
            _ => Problem::error("the operand must be a register of 128 bits"),
        }
    }

    /// Adds slots to the pool and gives the place of the first.
    pub(crate) fn pool(&mut self, slots: &[u32]) -> u32 {
        let start = self.function.tables.pool.len() as u32;
        self.function.tables.pool.extend_from_slice(slots);
        start
    }
}

/// The register contents of a literal in an operation on `ty`.
pub(crate) fn immediate(operand: &Operand<'_>, ty: Type) -> Option<u64> {
    let mask = u64::MAX >> (64 - ty.bits().clamp(1, 64));
    match operand {
        // There are no literals of 16 bits.
        _ if matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2) => return None,
        Operand::Integer(_) if ty.is_float() => return None,
        Operand::Single(_) | Operand::Double(_) if ty == Type::Pred => return None,
        Operand::Single(_) | Operand::Double(_) if ty.is_integer() => return None,
        Operand::Double(_) if matches!(ty, Type::B8 | Type::B16 | Type::B32) => return None,
        _ => {}
    }
    Some(match *operand {
        Operand::Integer(value) if ty == Type::Pred => u64::from(value != 0),
        Operand::Integer(value) => value & mask,
        Operand::Single(bits) if ty == Type::F64 => f64::from(f32::from_bits(bits)).to_bits(),
        Operand::Single(bits) => u64::from(bits),
        Operand::Double(bits) if ty.bits() == 32 => {
            u64::from((f64::from_bits(bits) as f32).to_bits())
        }
        Operand::Double(bits) => bits,
        _ => return None,
    })
}
