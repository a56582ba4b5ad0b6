//! `ld` and `st`.
//!
//! PTX ISA, "ld" and "st".

use super::build::Build;
use super::function::Decoder;
use super::modifiers::Modifiers;
use super::moves::{space_named, vector};
use super::names::Entity;
use super::operands::immediate;
use super::problem::Problem;
use crate::arithmetic::integer;
use crate::execute::Transfer;
use crate::execute::instructions::register::{self, binary};
use crate::execute::instructions::{Target, control_flow, memory_handler, shape};
use crate::launch::Space;
use crate::memory::AccessKind;
use crate::program::Symbol;
use crate::ptx::{Base, Instruction, Operand, Type};

/// Where an access goes.
pub(crate) struct Location {
    pub(crate) target: Target,
    /// Slot of the address.
    pub(crate) slot: u32,
    pub(crate) offset: i32,
}

/// Modifiers that change nothing: caches and hints.
const HINTS: [&str; 22] = [
    "nc",
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "weak",
    "cta",
    "gpu",
    "sys",
    "cluster",
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::cache_hint",
    "unified",
    "mmio",
    "uni",
];

pub(crate) fn ignore_hints(m: &mut Modifiers<'_>) {
    m.ignore(&HINTS);
    m.ignore_prefixed(&["L2::"]);
}

/// How strong an access is.
pub(crate) fn strength(m: &mut Modifiers<'_>) -> u32 {
    let mut kind = 0;
    for (word, bits) in [
        ("volatile", AccessKind::STRONG),
        ("relaxed", AccessKind::STRONG),
        ("acquire", AccessKind::STRONG),
        ("release", AccessKind::STRONG | AccessKind::RELEASE),
        ("acq_rel", AccessKind::STRONG | AccessKind::RELEASE),
    ] {
        if m.take(word) {
            kind |= bits;
        }
    }
    kind
}

impl<'a> Decoder<'_, 'a> {
    pub(crate) fn decode_memory(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        let write = i.opcode == "st";
        let kind = strength(m) | if write { AccessKind::WRITE.0 } else { AccessKind::READ.0 };
        let space = m.pick(space_named);
        ignore_hints(m);
        let words = m.pick(vector).unwrap_or(1);
        let ty = m.ty()?;
        if i.operands.len() == 3 {
            // The third operand is a cache policy.
        } else {
            self.count(i, 2)?;
        }
        let (address, value) =
            if write { (&i.operands[0], &i.operands[1]) } else { (&i.operands[1], &i.operands[0]) };
        let location = self.location(address, space)?;
        if ty == Type::B128 {
            return self.access_wide(value, &location, kind, write);
        }
        match value {
            value if self.is_vector(value) => self.many(value, &location, ty, words, kind, write),
            _ if words != 1 => Problem::error("the operand must be a vector of registers"),
            _ => self.single(value, &location, ty, kind, write),
        }
    }

    /// `createpolicy`: what a cache keeps is not emulated, all policies are the same.
    pub(crate) fn create_policy(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        let operands = i.operands.len();
        let known = (m.take("fractional") && (1..=2).contains(&operands))
            || (m.take("range") && operands == 4)
            || (m.take("cvt") && operands == 2);
        m.ignore(&["global", "L2"]);
        m.ignore_prefixed(&["L2::"]);
        if !known || m.ty()? != Type::B64 {
            return Err(Problem::Unsupported);
        }
        let fraction = i.operands.get(1).and_then(|operand| immediate(operand, Type::F32));
        let fraction = fraction.filter(|_| i.modifiers.contains(&"fractional"));
        let fraction = fraction.map(|bits| f32::from_bits(bits as u32));
        if fraction.is_some_and(|fraction| !(fraction > 0.0 && fraction <= 1.0)) {
            return Problem::error("the fraction must be above 0 and at most 1");
        }
        let policy = self.constant(0);
        let d = self.write(&i.operands[0])?;
        self.push(Build::new(register::copy).d(d).a(policy));
        Ok(())
    }

    /// Checks the register that is loaded or stored: it may be wider than what is in memory.
    pub(super) fn check_data(&mut self, value: &Operand<'a>, ty: Type) -> Result<(), Problem> {
        let Some(found) = self.type_of(value) else { return Ok(()) };
        let is_wider = found.bits() > ty.bits() && !(found.is_float() && ty.is_float());
        let fits = is_wider || found.bits() == ty.bits();
        if found != Type::Pred && fits && !found.is_of_other_kind(ty) {
            return Ok(());
        }
        let (found, wanted) = (found.name(), ty.name());
        Problem::error(format!("a register of the type `.{found}` cannot hold `.{wanted}`"))
    }

    fn single(
        &mut self,
        value: &Operand<'a>,
        location: &Location,
        ty: Type,
        kind: u32,
        write: bool,
    ) -> Result<(), Problem> {
        let run = memory_handler(location.target, ty, 1, write);
        let transfer = transfer(location.target, write);
        let mut build = Build::new(run).a(location.slot).transfer(transfer).load(!write);
        self.check_data(value, ty)?;
        let width = if write {
            let slot = self.read(value, ty)?;
            build = build.reads(slot).with(|i| i.d = slot);
            ty.bits()
        } else {
            let (slot, register) = self.write_typed(value)?;
            build = build.d(slot);
            register.bits().min(64)
        };
        let offset = location.offset as u32;
        let slot = build.instruction.d;
        self.push(build.x(shape(1, width, ty)).with(|i| (i.b, i.e) = (offset, kind)));
        self.pass_located(location, ty.bytes(), &[slot], write);
        Ok(())
    }

    fn many(
        &mut self,
        value: &Operand<'a>,
        location: &Location,
        ty: Type,
        words: u32,
        kind: u32,
        write: bool,
    ) -> Result<(), Problem> {
        let mut width = ty.bits();
        if let Operand::Vector(parts) = value {
            parts.iter().try_for_each(|part| self.check_data(part, ty))?;
        }
        let slots = if write {
            self.read_parts(value, ty)?
        } else {
            let parts = self.write_parts(value)?;
            width = parts.last().map_or(width, |(_, register)| register.bits().min(64));
            parts.into_iter().map(|(slot, _)| slot).collect()
        };
        if slots.len() != words as usize {
            return Problem::error(format!(
                "{} registers are given for a vector of {words}",
                slots.len()
            ));
        }
        let run = memory_handler(location.target, ty, words.max(2), write);
        let transfer = transfer(location.target, write);
        let mut build = Build::new(run).a(location.slot).transfer(transfer).load(!write);
        for &slot in &slots {
            build = if write { build.reads(slot) } else { build.writes(slot) };
        }
        let (pool, offset) = (self.pool(&slots), location.offset as u32);
        let build = build.x(shape(words, width, ty));
        self.push(build.with(|i| (i.d, i.b, i.e) = (pool, offset, kind)));
        self.pass_located(location, ty.bytes(), &slots, write);
        Ok(())
    }

    /// A 128-bit register is two slots.
    fn access_wide(
        &mut self,
        value: &Operand<'a>,
        location: &Location,
        kind: u32,
        write: bool,
    ) -> Result<(), Problem> {
        let slot = self.wide(value)?;
        let run = memory_handler(location.target, Type::B64, 2, write);
        let transfer = transfer(location.target, write);
        let mut build = Build::new(run).a(location.slot).transfer(transfer).load(!write);
        for slot in [slot, slot + 1] {
            build = if write { build.reads(slot) } else { build.writes(slot) };
        }
        let (pool, offset) = (self.pool(&[slot, slot + 1]), location.offset as u32);
        let build = build.x(shape(2, 64, Type::B64));
        self.push(build.with(|i| (i.d, i.b, i.e) = (pool, offset, kind)));
        self.pass_located(location, 8, &[slot, slot + 1], write);
        Ok(())
    }

    /// Notes what an access does to the parts of a result.
    fn pass_located(&mut self, location: &Location, bytes: u32, slots: &[u32], write: bool) {
        if location.target == Target::Frame {
            self.pass_parts(location.offset as u32, bytes, slots, write);
        }
    }

    /// Where an operand in brackets points to.
    pub(crate) fn location(
        &mut self,
        operand: &Operand<'a>,
        space: Option<Space>,
    ) -> Result<Location, Problem> {
        let Operand::Address { base, offset } = operand else {
            return match operand {
                Operand::Unknown | Operand::Place { .. } => Err(Problem::Unsupported),
                _ => Problem::error("the operand must be an address in brackets"),
            };
        };
        let target = match space.map(|space| self.home_of_parameters(space)) {
            None => Target::Generic,
            Some(Space::Global) => Target::Global,
            Some(Space::Shared) => Target::Shared,
            Some(Space::Local) => Target::Local,
            Some(Space::Param) => Target::Param,
            Some(Space::Generic) => Target::Generic,
        };
        match base {
            Base::Absolute(address) => {
                let slot = self.constant(address.wrapping_add(*offset as u64));
                Ok(Location { target, slot, offset: 0 })
            }
            Base::Name(name) => self.named_location(name, *offset, target),
        }
    }

    fn named_location(
        &mut self,
        name: &'a str,
        offset: i64,
        target: Target,
    ) -> Result<Location, Problem> {
        let fixed = |start: u32| i64::from(start).wrapping_add(offset);
        match self.names.find(name) {
            Some(Entity::Frame { offset: start, bytes, .. }) => {
                if offset < 0 || offset >= i64::from(bytes.max(1)) {
                    return Ok(self.location_beyond(offset, target));
                }
                let slot = self.constant(0);
                Ok(Location { target: Target::Frame, slot, offset: fixed(start) as i32 })
            }
            Some(Entity::Parameter { offset: start, bytes }) => {
                if offset < 0 || offset >= i64::from(bytes.max(1)) {
                    return Ok(self.location_beyond(offset, target));
                }
                let slot = self.constant(fixed(start) as u64);
                Ok(Location { target: Target::Param, slot, offset: 0 })
            }
            Some(Entity::Register { slot, .. }) => self.register_location(slot, offset, target),
            Some(Entity::Vector { .. }) => {
                Problem::error(format!("`{name}` is a vector, not an address"))
            }
            Some(Entity::Global(_)) => self.shared_location(name, offset, target, Target::Global),
            Some(Entity::Shared(_) | Entity::Dynamic) => {
                self.shared_location(name, offset, target, Target::Shared)
            }
            None => {
                let natural = match self.context.symbols.find(name) {
                    Some(Symbol::Shared(_) | Symbol::Dynamic) => Target::Shared,
                    _ => Target::Global,
                };
                self.shared_location(name, offset, target, natural)
            }
        }
    }

    /// A place that is not in its variable: an access is a fault when it is executed.
    fn location_beyond(&mut self, offset: i64, target: Target) -> Location {
        let slot = self.constant(offset as u64);
        let space = if target == Target::Local { 1 } else { 0 };
        self.push(Build::new(control_flow::beyond).a(slot).x(space));
        Location { target: Target::Frame, slot, offset: 0 }
    }

    /// A variable named without its space is in its own.
    fn shared_location(
        &mut self,
        name: &'a str,
        offset: i64,
        target: Target,
        natural: Target,
    ) -> Result<Location, Problem> {
        let slot = self.address(name, offset)?;
        let target = if target == Target::Generic { natural } else { target };
        Ok(Location { target, slot, offset: 0 })
    }

    fn register_location(
        &mut self,
        slot: u32,
        offset: i64,
        target: Target,
    ) -> Result<Location, Problem> {
        if let Ok(offset) = i32::try_from(offset) {
            return Ok(Location { target, slot, offset });
        }
        let (sum, addend) = (self.scratch(), self.constant(offset as u64));
        self.push(Build::new(binary!(integer::add::<u64>)).d(sum).a(slot).b(addend));
        Ok(Location { target, slot: sum, offset: 0 })
    }
}

/// Padding may be stored where only the thread itself can see it.
fn transfer(target: Target, write: bool) -> Transfer {
    match target {
        _ if !write => Transfer::Use,
        Target::Frame | Target::Local => Transfer::Store,
        _ => Transfer::Publish,
    }
}
