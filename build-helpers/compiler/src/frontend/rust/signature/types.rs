//! From a type as it is written to what crosses between host and device.

use super::{
    alias::{of_device_fn, refuse_alias},
    empty::{Empty, emptiness},
    length,
    scope::{Found, ModuleId, Scope, TypeItem},
    syntax::{bare, disjoint_element, first_argument, second_argument, segments, tensor_map},
    unsupported::{self, UnsupportedType},
};
use kernelmill_artifact::{Access, MAX_TENSOR_RANK, ParameterKind, Scalar, ValueType};
use syn::{Path, Type};

/// Arrays of more bytes than this are refused: no device has so much memory.
const LARGEST_ARRAY: u64 = 1 << 40;

/// Follows the types of one parameter.
pub(super) struct Types<'s, 'a> {
    pub(super) scope: &'s Scope<'a>,
    /// The parameter's name, for what to write instead.
    pub(super) name: &'s str,
    /// Where the type that is looked at stands.
    pub(super) position: Position,
    /// The structs and aliases that are being followed, to notice circles.
    inside: Vec<*const ()>,
}

/// Where a type stands in a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// It is the parameter's own.
    Parameter,
    /// It is the type of a slice's elements.
    Element(Access),
    /// It is in a struct or behind an alias.
    Inside,
}

impl<'s, 'a> Types<'s, 'a> {
    pub(super) fn new(scope: &'s Scope<'a>, name: &'s str) -> Self {
        Self { scope, name, position: Position::Parameter, inside: Vec::new() }
    }

    /// What crosses for a parameter of this type; `None` where it has no bytes, and where it is memory of the
    /// block.
    pub(super) fn parameter(
        &mut self,
        module: ModuleId,
        ty: &Type,
    ) -> Result<Option<ParameterKind>, UnsupportedType> {
        match emptiness(self.scope, module, ty) {
            Some(Empty::Open) => return Ok(None),
            Some(Empty::Sealed) => {
                return Err(unsupported::sealed(self.scope.text(module).written(ty)));
            }
            None => {}
        }
        if let Type::Path(path) = bare(ty) {
            refuse_alias(self.scope, module, &path.path)?;
            if path.path.segments.last().is_some_and(|last| last.ident == "BlockArray") {
                return Ok(None);
            }
        }
        self.bytes(module, ty).map(Some)
    }

    fn bytes(&mut self, module: ModuleId, ty: &Type) -> Result<ParameterKind, UnsupportedType> {
        let (element, access) = match bare(ty) {
            Type::Reference(reference) => match (bare(&reference.elem), &reference.mutability) {
                (Type::Slice(slice), None) => (&*slice.elem, Access::Read),
                (Type::Path(path), None) => {
                    refuse_alias(self.scope, module, &path.path)?;
                    return match tensor_map(&path.path) {
                        Some(access) => self.tensor_map(module, ty, &path.path, access),
                        None => Err(self.refuse(module, ty)),
                    };
                }
                _ => return Err(self.refuse(module, ty)),
            },
            Type::Path(path) => match disjoint_element(&path.path) {
                Some(element) => (element, Access::Write),
                None => return self.value(module, ty).map(ParameterKind::Value),
            },
            _ => return self.value(module, ty).map(ParameterKind::Value),
        };
        self.position = Position::Element(access);
        if let Some(scalar) = self.atomic(module, element) {
            // The kernel writes through a shared reference, so the host has to give up the buffer.
            let element = ValueType::Scalar(scalar);
            return Ok(ParameterKind::Slice { element, access: Access::Write });
        }
        let element = self.value(module, element)?;
        Ok(ParameterKind::Slice { element, access })
    }

    /// A `&TensorMap<T, D>`.
    fn tensor_map(
        &mut self,
        module: ModuleId,
        ty: &Type,
        path: &Path,
        access: Access,
    ) -> Result<ParameterKind, UnsupportedType> {
        let segment = path.segments.last();
        let rank = segment.and_then(second_argument);
        let rank = rank.and_then(|rank| length::value(self.scope, module, rank));
        let rank = rank.filter(|rank| (1..=MAX_TENSOR_RANK as u64).contains(rank));
        let (Some(rank), Some(element)) = (rank, segment.and_then(first_argument)) else {
            return Err(self.no_tensor_map(module, ty));
        };
        match self.value(module, element)? {
            element @ ValueType::Scalar(scalar) if scalar.is_tensor_element() => {
                Ok(ParameterKind::TensorMap { element, rank: rank as u32, access })
            }
            _ => Err(self.no_tensor_map(module, ty)),
        }
    }

    /// The value that a type stands for.
    pub(super) fn value(
        &mut self,
        module: ModuleId,
        ty: &Type,
    ) -> Result<ValueType, UnsupportedType> {
        match bare(ty) {
            Type::Path(path) if path.qself.is_none() => {
                refuse_alias(self.scope, module, &path.path)?;
                match of_device_fn(self.scope, module, &path.path) {
                    Some(inner) => self.device_fn(module, ty, inner),
                    None => self.named(module, ty, &path.path),
                }
            }
            Type::Array(array) => {
                let element = self.value(module, &array.elem).map_err(|it| it.within("[_]"))?;
                let Some(length) = length::value(self.scope, module, &array.len) else {
                    return Err(self.unknown_length(module, array));
                };
                let bytes = element.size().checked_mul(length);
                if length == 0 || bytes.is_none_or(|bytes| bytes > LARGEST_ARRAY) {
                    return Err(self.impossible_length(module, array));
                }
                Ok(ValueType::Array(element.into(), length))
            }
            _ => Err(self.refuse(module, ty)),
        }
    }

    fn named(
        &mut self,
        module: ModuleId,
        ty: &Type,
        path: &Path,
    ) -> Result<ValueType, UnsupportedType> {
        let names = segments(path);
        if path.leading_colon.is_some() {
            return foreign(&names).ok_or_else(|| self.refuse(module, ty));
        }
        match self.scope.find_type(module, &names) {
            Found::Here(home, TypeItem::Struct(item)) => {
                let address = std::ptr::from_ref(item).cast();
                if !item.generics.params.is_empty() || self.inside.contains(&address) {
                    return Err(self.generic_or_circular(module, ty, &item.generics));
                }
                let position = self.enter(address);
                let layout = self.structure(home, item);
                self.leave(position);
                layout.map_err(|refusal| refusal.or_written(self.scope.text(module).written(ty)))
            }
            Found::Here(home, TypeItem::Alias(item)) => {
                let address = std::ptr::from_ref(item).cast();
                if !item.generics.params.is_empty() || self.inside.contains(&address) {
                    return Err(self.generic_or_circular(module, ty, &item.generics));
                }
                let position = self.enter(address);
                let value = self.value(home, &item.ty);
                self.leave(position);
                value.map_err(|refusal| refusal.or_at(self.scope.text(home).place(&item.ty)))
            }
            Found::Here(home, TypeItem::Enum(item)) => self
                .enumeration(home, item)
                .map_err(|refusal| refusal.or_written(self.scope.text(module).written(ty))),
            Found::Here(_, TypeItem::Union | TypeItem::Function(_)) => Err(self.refuse(module, ty)),
            Found::Elsewhere(full) => foreign(&full).ok_or_else(|| self.refuse(module, ty)),
            Found::Nothing => self.scalar(module, &names).ok_or_else(|| self.refuse(module, ty)),
        }
    }

    /// The scalar of the language, or of a glob import of `half`, that a path names.
    fn scalar(&self, module: ModuleId, names: &[String]) -> Option<ValueType> {
        let scalar = Scalar::from_name(names.first()?)?;
        let is_half = matches!(scalar, Scalar::F16 | Scalar::Bf16);
        let is_known = !is_half || self.scope.has_glob_of(module, "half");
        is_known.then_some(ValueType::Scalar(scalar))
    }

    fn enter(&mut self, item: *const ()) -> Position {
        self.inside.push(item);
        std::mem::replace(&mut self.position, Position::Inside)
    }

    fn leave(&mut self, position: Position) {
        self.inside.pop();
        self.position = position;
    }

    /// The scalar in one of the atomics of `core` and of the device crate.
    fn atomic(&self, module: ModuleId, ty: &Type) -> Option<Scalar> {
        let Type::Path(path) = bare(ty) else { return None };
        let written = segments(&path.path);
        let names = match self.scope.find_type(module, &written) {
            Found::Elsewhere(full) => full,
            Found::Nothing => written,
            Found::Here(..) => return None,
        };
        let has_prelude = self.scope.has_glob_of(module, "kernelmill_device");
        let (is_ours, name) = match *names.iter().map(String::as_str).collect::<Vec<_>>() {
            ["core" | "std", "sync", "atomic", name] => (false, name),
            ["kernelmill_device", "atomic", name] => (true, name),
            ["atomic", name] | [name] if has_prelude => (true, name),
            _ => return None,
        };
        let scalar = Scalar::from_name(&name.strip_prefix("Atomic")?.to_lowercase())?;
        let is_float = matches!(scalar, Scalar::F32 | Scalar::F64);
        (is_ours || !is_float).then_some(scalar)
    }
}

/// The scalar that a path into another crate stands for.
fn foreign(path: &[String]) -> Option<ValueType> {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    let scalar = match *names {
        ["half", .., name @ ("f16" | "bf16")]
        | ["kernelmill_device", name @ ("f16" | "bf16")]
        | ["kernelmill_device", "half", name @ ("f16" | "bf16")] => Scalar::from_name(name)?,
        ["core" | "std", "primitive", name] => Scalar::from_name(name)?,
        ["core" | "std", "ffi", name] | ["std", "os", "raw", name] => match name {
            "c_schar" => Scalar::I8,
            "c_uchar" => Scalar::U8,
            "c_short" => Scalar::I16,
            "c_ushort" => Scalar::U16,
            "c_int" => Scalar::I32,
            "c_uint" => Scalar::U32,
            "c_longlong" => Scalar::I64,
            "c_ulonglong" => Scalar::U64,
            "c_float" => Scalar::F32,
            "c_double" => Scalar::F64,
            _ => return None,
        },
        _ => return None,
    };
    Some(ValueType::Scalar(scalar))
}
