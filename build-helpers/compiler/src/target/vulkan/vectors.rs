//! Vectors that are left where all else is scalar: of numbers that are taken apart or put together. Each element has a name
//! of its own.

use kernelmill_llvm::ir::{Opcode, Type, TypeKind, Value};

use super::{
    kernel::{Kernel, Problem},
    scalars::{Scalar, low_word},
};

/// Whether an instruction makes a vector, or something of one.
pub(super) fn is_of_vectors(instruction: Value<'_>) -> bool {
    let is_vector = |value: Value<'_>| value.ty().kind() == TypeKind::Vector;
    let has_them = matches!(
        instruction.opcode(),
        Opcode::BitCast | Opcode::ExtractElement | Opcode::InsertElement | Opcode::ShuffleVector
    );
    has_them && (is_vector(instruction) || is_vector(instruction.operand(0)))
}

/// The type of the elements, and their number.
fn parts_of(ty: Type<'_>) -> Option<(Scalar, u32)> {
    match ty.kind() {
        TypeKind::Vector => Some((Scalar::of(ty.element())?, ty.lanes()?)),
        _ => Some((Scalar::of(ty)?, 1)),
    }
}

impl<'c> Kernel<'_, 'c> {
    /// Writes an instruction with vectors.
    pub(super) fn vector(&mut self, it: Value<'c>) -> Result<(), Problem> {
        let source = it.operand(0);
        let elements = match it.opcode() {
            Opcode::BitCast => self.converted(source, it)?,
            Opcode::ExtractElement => {
                let place = self.constant_place(it.operand(1))?;
                let element = self.elements(source)?.swap_remove(place as usize);
                self.define(it, &element);
                return Ok(());
            }
            Opcode::InsertElement => {
                let place = self.constant_place(it.operand(2))?;
                let mut elements = self.elements(source)?;
                elements[place as usize] = self.operand(it.operand(1))?;
                elements
            }
            _ => {
                let mut all = self.elements(source)?;
                all.extend(self.elements(it.operand(1))?);
                let (scalar, _) = parts_of(it.ty()).ok_or_else(|| self.of_type(it.ty()))?;
                let taken = it.shuffle_mask().into_iter();
                let taken = taken.map(|lane| all.get(lane as usize).cloned());
                taken.map(|element| element.unwrap_or_else(|| scalar.zero())).collect()
            }
        };
        let (scalar, _) = parts_of(it.ty()).ok_or_else(|| self.of_type(it.ty()))?;
        match it.ty().kind() {
            TypeKind::Vector => {
                let fields: Vec<_> = elements.into_iter().map(|it| (scalar, it)).collect();
                self.define_fields(it, &fields);
            }
            _ => self.define(it, &elements[0]),
        }
        Ok(())
    }

    fn constant_place(&self, place: Value<'c>) -> Result<u64, Problem> {
        let unknown =
            || Problem::new("takes an element of a vector at an index that is not constant");
        place.as_u64().ok_or_else(unknown)
    }

    /// The elements of a value.
    fn elements(&mut self, value: Value<'c>) -> Result<Vec<String>, Problem> {
        let (scalar, count) = parts_of(value.ty()).ok_or_else(|| self.of_type(value.ty()))?;
        if value.ty().kind() != TypeKind::Vector {
            return Ok(vec![self.operand(value)?]);
        }
        let element = |kernel: &mut Self, index| match value.is_constant() {
            true if value.is_undefined() => Ok(scalar.zero()),
            true => match value.constant_element(index) {
                Some(element) => kernel.operand(element),
                None => Err(kernel.of_type(value.ty())),
            },
            false => kernel.field(value, index),
        };
        (0..count).map(|index| element(self, index)).collect()
    }

    /// The elements that have the bits of a value.
    fn converted(&mut self, from: Value<'c>, to: Value<'c>) -> Result<Vec<String>, Problem> {
        let refused = |kernel: &Self, value: Value<'c>| kernel.of_type(value.ty());
        let (source, _) = parts_of(from.ty()).ok_or_else(|| refused(self, from))?;
        let (target, count) = parts_of(to.ty()).ok_or_else(|| refused(self, to))?;
        let total = target.bits() * count;
        if !matches!(total, 8 | 16 | 32 | 64) {
            return self.converted_in_words(from, (source, target), count);
        }
        // All bits as one number.
        let elements = self.elements(from)?;
        let joined = self.joined(&elements, source, total);
        let joined = self.keep(&joined);
        Ok((0..count)
            .map(|index| {
                let shift = target.bits() * index;
                let part = match (total, target.bits()) {
                    (64, 64) => joined.clone(),
                    (64, _) if shift == 0 => low_word(&joined),
                    (64, _) => format!("u32({joined} >> {shift}u)"),
                    _ if shift == 0 => joined.clone(),
                    _ => format!("({joined} >> {shift}u)"),
                };
                target.of_bits(&target.cut(&part))
            })
            .collect())
    }

    /// The same of vectors whose elements are parts of the other's.
    fn converted_in_words(
        &mut self,
        from: Value<'c>,
        (source, target): (Scalar, Scalar),
        count: u32,
    ) -> Result<Vec<String>, Problem> {
        let elements = self.elements(from)?;
        if source.bits() < target.bits() {
            let ratio = (target.bits() / source.bits()) as usize;
            let groups = elements.chunks(ratio);
            return Ok(groups
                .map(|group| target.of_bits(&self.joined(group, source, target.bits())))
                .collect());
        }
        let ratio = source.bits() / target.bits();
        Ok((0..count)
            .map(|index| {
                let bits = source.to_bits(&elements[(index / ratio) as usize]);
                let shift = target.bits() * (index % ratio);
                let part = match source.bits() {
                    64 => format!("u32({bits} >> {shift}u)"),
                    _ => format!("({bits} >> {shift}u)"),
                };
                target.of_bits(&target.cut(&part))
            })
            .collect())
    }

    /// The bits of elements as one number.
    fn joined(&self, elements: &[String], scalar: Scalar, total: u32) -> String {
        let part = |(index, element): (u32, &String)| {
            let bits = scalar.to_bits(element);
            let wide =
                if total == 64 && scalar.bits() < 64 { format!("u64({bits})") } else { bits };
            match index {
                0 => wide,
                _ => format!("({wide} << {}u)", scalar.bits() * index),
            }
        };
        let parts: Vec<_> = (0..).zip(elements).map(part).collect();
        format!("({})", parts.join(" | "))
    }
}
