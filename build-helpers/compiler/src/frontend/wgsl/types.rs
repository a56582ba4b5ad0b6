//! Types of WGSL in memory ([WGSL, "Alignment and Size"][size]), as types of the host.
//!
//! Vectors, matrices and arrays are arrays. One of three components has four where WGSL gives it the place of four: as an
//! element of an array, and as a column. Structs have fields for the padding that `#[repr(C)]` would not leave.
//!
//! [size]: https://www.w3.org/TR/WGSL/#alignment-and-size

use kernelmill_artifact::{Field, Nested, Scalar, StructLayout, ValueType};
use naga::{ArraySize, Handle, Module, ScalarKind, StructMember, Type, TypeInner, proc::Layouter};

/// The types of a module.
pub(super) struct Types<'m> {
    module: &'m Module,
    layouts: Layouter,
}

impl<'m> Types<'m> {
    /// Those of a valid module.
    pub(super) fn new(module: &'m Module) -> Result<Self, String> {
        let mut layouts = Layouter::default();
        layouts.update(module.to_ctx()).map_err(|error| error.to_string())?;
        Ok(Self { module, layouts })
    }

    /// The bytes of a value.
    pub(super) fn bytes(&self, ty: Handle<Type>) -> u32 {
        self.layouts[ty].size
    }

    /// What a buffer of this type has one or several of; why it cannot be passed where it cannot. A struct that has an array
    /// of any length, and nothing else, is that array.
    pub(super) fn content(&self, ty: Handle<Type>) -> Result<ValueType, String> {
        match &self.module.types[ty].inner {
            TypeInner::Array { base, size: ArraySize::Dynamic, stride } => {
                self.element(*base, *stride)
            }
            TypeInner::Struct { members, .. } => match &members[..] {
                [only] if self.is_of_any_length(only.ty) => self.content(only.ty),
                _ => self.value(ty),
            },
            _ => self.value(ty),
        }
    }

    fn is_of_any_length(&self, ty: Handle<Type>) -> bool {
        matches!(self.module.types[ty].inner, TypeInner::Array { size: ArraySize::Dynamic, .. })
    }

    /// The host's type for a value.
    fn value(&self, ty: Handle<Type>) -> Result<ValueType, String> {
        let scalars = |scalar, count: u64| {
            Ok::<_, String>(ValueType::Array(Nested::from(scalar_type(scalar)?), count))
        };
        match &self.module.types[ty].inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => scalar_type(*scalar),
            TypeInner::Vector { size, scalar } => scalars(*scalar, *size as u64),
            TypeInner::Matrix { columns, rows, scalar } => {
                // A column of three has the place of four.
                let rows = (*rows as u64).next_power_of_two();
                Ok(ValueType::Array(Nested::from(scalars(*scalar, rows)?), *columns as u64))
            }
            TypeInner::Array { base, size: ArraySize::Constant(count), stride } => {
                let element = self.element(*base, *stride)?;
                Ok(ValueType::Array(Nested::from(element), count.get().into()))
            }
            TypeInner::Array { .. } => {
                Err("a runtime-sized array can only be a whole buffer".to_owned())
            }
            TypeInner::Struct { members, span } => self.structure(ty, members, (*span).into()),
            _ => Err("a value of this type cannot be passed".to_owned()),
        }
    }

    /// The host's type for an element of an array, which takes `stride` bytes.
    fn element(&self, base: Handle<Type>, stride: u32) -> Result<ValueType, String> {
        let element = self.value(base)?;
        if element.size() == u64::from(stride) {
            return Ok(element);
        }
        match element {
            ValueType::Array(scalar, count) if scalar.size() * (count + 1) == u64::from(stride) => {
                Ok(ValueType::Array(scalar, count + 1))
            }
            element => Err(format!(
                "elements of {} bytes that are {stride} bytes apart cannot be passed",
                element.size()
            )),
        }
    }

    fn structure(
        &self,
        ty: Handle<Type>,
        members: &[StructMember],
        bytes: u64,
    ) -> Result<ValueType, String> {
        let (mut fields, mut end) = (Vec::new(), 0_u64);
        let align = u64::from(self.layouts[ty].alignment * 1);
        for (index, member) in members.iter().enumerate() {
            let offset = u64::from(member.offset);
            let name = member.name.clone().unwrap_or_else(|| format!("member_{index}"));
            let ty = self.value(member.ty).map_err(|why| format!("its member `{name}`: {why}"))?;
            pad(&mut fields, members, end.next_multiple_of(ty.align()), offset);
            end = offset + ty.size();
            fields.push(Field { name: name.into(), ty, offset, public: true });
        }
        pad(&mut fields, members, end.next_multiple_of(align), bytes);
        let name = self.module.types[ty].name.clone().unwrap_or_default();
        let layout = StructLayout { name: name.into(), size: bytes, align, fields: fields.into() };
        Ok(ValueType::Struct(Nested::from(layout)))
    }
}

/// Adds a field for the padding from `from` to `to`.
fn pad(fields: &mut Vec<Field>, members: &[StructMember], from: u64, to: u64) {
    // Everything that is shared with the host has a multiple of four bytes.
    let words = to.saturating_sub(from) / 4;
    if words == 0 {
        return;
    }
    let is_free = |name: &String| {
        let is_member = members.iter().any(|it| it.name.as_deref() == Some(name));
        !is_member && !fields.iter().any(|field| field.name == *name)
    };
    let name = (0..).map(|number| format!("padding_{number}")).find(is_free).unwrap_or_default();
    let word = ValueType::Scalar(Scalar::U32);
    let ty = ValueType::Array(Nested::from(word), words);
    fields.push(Field { name: name.into(), ty, offset: from, public: true });
}

fn scalar_type(scalar: naga::Scalar) -> Result<ValueType, String> {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 4) => Ok(ValueType::Scalar(Scalar::F32)),
        (ScalarKind::Sint, 4) => Ok(ValueType::Scalar(Scalar::I32)),
        (ScalarKind::Uint, 4) => Ok(ValueType::Scalar(Scalar::U32)),
        _ => Err("only `f32`, `i32` and `u32` can be passed".to_owned()),
    }
}
