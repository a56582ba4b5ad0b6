//! Operands: names of values, constants, and pointers as offsets in bytes.

use kernelmill_llvm::ir::{Opcode, Type, TypeKind, Value};

use super::{
    access::Place,
    kernel::{Kernel, NULL, Problem},
    memory::{self, Memory},
    scalars::{Scalar, constant, low_word},
};

impl<'c> Kernel<'_, 'c> {
    /// An operand.
    pub(super) fn operand(&mut self, value: Value<'c>) -> Result<String, Problem> {
        if let Some(name) = self.names.get(&value) {
            return Ok(name.clone());
        }
        if value.ty().is_pointer() {
            return self.offset(value);
        }
        if value.is_constant_expression() {
            return self.expression(value);
        }
        match constant(value) {
            Some(text) => Ok(text),
            None if Scalar::of(value.ty()).is_none() => Err(self.of_type(value.ty())),
            None => Err(Problem::new("uses a constant whose value is not known at compile time")),
        }
    }

    /// A number that is made of addresses.
    pub(super) fn expression(&mut self, value: Value<'c>) -> Result<String, Problem> {
        let scalar = Scalar::of(value.ty()).ok_or_else(|| self.of_type(value.ty()))?;
        let sign = match value.constant_opcode() {
            Opcode::PtrToInt | Opcode::PtrToAddr if scalar == Scalar::Long => {
                return self.address(value.operand(0));
            }
            Opcode::Add => '+',
            Opcode::Sub => '-',
            _ => return Err(Problem::new("computes with an address in a constant")),
        };
        let (a, b) = (self.operand(value.operand(0))?, self.operand(value.operand(1))?);
        Ok(scalar.cut(&format!("{a} {sign} {b}")))
    }

    /// What a type is that WGSL has not.
    pub(super) fn of_type(&self, ty: Type<'c>) -> Problem {
        Problem::new(format!("computes with values of LLVM's type `{ty:?}`"))
    }

    /// The memory of a pointer.
    pub(super) fn memory(&self, pointer: Value<'c>) -> Memory<'c> {
        let of_constant = || {
            let found = memory::of(self.function, &self.parameters, pointer).ok()?;
            // A constant has one.
            found.first().copied()
        };
        let known = self.memories.get(&pointer).copied();
        known.or_else(of_constant).unwrap_or(Memory::Nowhere)
    }

    /// The place of an access.
    pub(super) fn place(&mut self, pointer: Value<'c>, align: u64) -> Result<Place<'c>, Problem> {
        let (memory, offset) = (self.memory(pointer), self.operand(pointer)?);
        Ok(Place { memory, offset, align })
    }

    /// The offset of a pointer that has no name.
    pub(super) fn offset(&mut self, pointer: Value<'c>) -> Result<String, Problem> {
        let is_expression = pointer.is_constant_expression();
        match () {
            () if is_expression && pointer.constant_opcode() == Opcode::GetElementPtr => {
                self.element(pointer)
            }
            () if is_expression => self.operand(pointer.operand(0)),
            () if pointer.is_zero() => Ok(format!("{NULL}u")),
            () => Ok("0u".to_owned()),
        }
    }

    /// The offset of an element.
    pub(super) fn element(&mut self, pointer: Value<'c>) -> Result<String, Problem> {
        let operands = pointer.operands();
        let mut ty = pointer.element_type();
        let (mut known, mut parts) = (0_u64, Vec::new());
        let base = self.operand(operands[0])?;
        if base != "0u" {
            parts.push(base);
        }
        for (place, index) in operands[1..].iter().enumerate() {
            if place > 0 && ty.kind() == TypeKind::Struct {
                let field = index.as_u64().unwrap_or(0) as u32;
                known = known.wrapping_add(self.machine.offset_of(ty, field));
                ty = ty.fields()[field as usize];
                continue;
            }
            if place > 0 {
                ty = ty.element();
            }
            let bytes = self.machine.size_of(ty);
            match index.as_u64() {
                Some(number) => {
                    let number = sign_extended(number, index.ty().int_width().unwrap_or(64));
                    known = known.wrapping_add(number.wrapping_mul(bytes));
                }
                None => {
                    let scalar = Scalar::of(index.ty()).unwrap_or(Scalar::Long);
                    let index = self.operand(*index)?;
                    let index = match scalar {
                        Scalar::Long => low_word(&index),
                        Scalar::Word(32) => index,
                        _ => format!("bitcast<u32>({})", scalar.signed(&index)),
                    };
                    parts.push(if bytes == 1 {
                        index
                    } else {
                        format!("{index} * {}u", bytes as u32)
                    });
                }
            }
        }
        if known as u32 != 0 || parts.is_empty() {
            parts.push(format!("{}u", known as u32));
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => format!("({})", parts.join(" + ")),
        })
    }
}

fn sign_extended(number: u64, bits: u32) -> u64 {
    let unused = 64 - bits.min(64);
    ((number << unused).cast_signed() >> unused).cast_unsigned()
}
