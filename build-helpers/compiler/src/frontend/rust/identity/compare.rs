//! A type that was read from source text beside its description by rustc.

use std::fmt::Display;

use kernelmill_artifact::{
    Access, EnumLayout, FunctionType, ParameterKind, Safety, Scalar, StructLayout, ValueType,
};

use super::debug_info::{DebugInfo, Members, NodeId, Variant};

/// The outcome of a comparison.
pub(super) type Compared = Result<(), Mismatch>;

/// Two types that differ, and where in a parameter they are.
pub(super) struct Mismatch {
    /// The fields that lead to them, the outermost first.
    path: Vec<String>,
    /// What the source is read as: a type in backquotes, or words.
    pub(super) read: String,
    /// What rustc compiles.
    pub(super) compiled: String,
}

impl Mismatch {
    /// Two types.
    pub(super) fn of_types(read: &dyn Display, compiled: &str) -> Self {
        Self::new(quoted(&read.to_string()), quoted(compiled))
    }

    /// Two texts.
    pub(super) fn new(read: String, compiled: String) -> Self {
        Self { path: Vec::new(), read, compiled }
    }

    fn within(mut self, field: &str) -> Self {
        self.path.insert(0, field.to_owned());
        self
    }

    /// What has the two types.
    pub(super) fn part(&self, parameter: &str) -> String {
        if self.path.is_empty() {
            return parameter.to_owned();
        }
        format!("field `{}` of {parameter}", self.path.join("."))
    }
}

/// A type in backquotes.
pub(super) fn quoted(ty: &str) -> String {
    format!("`{ty}`")
}

/// What a signature says of a tensor map.
#[derive(Clone, Copy)]
pub(super) struct TensorMap<'t> {
    pub(super) element: &'t ValueType,
    pub(super) rank: u32,
    pub(super) access: Access,
}

/// A comparison with the debug information of a module.
pub(super) struct Comparison<'a> {
    pub(super) debug: &'a DebugInfo<'a>,
}

impl Comparison<'_> {
    /// Compares the type of a value.
    pub(super) fn value(&self, read: &ValueType, compiled: NodeId) -> Compared {
        let is_same = match read {
            ValueType::Scalar(scalar) => self.is_scalar(*scalar, compiled),
            ValueType::Array(element, length) => match self.debug.array(compiled) {
                Some((inner, count)) if count == *length => {
                    // Arrays of other elements are shown whole.
                    return self.value(element, inner).map_err(|mismatch| {
                        if mismatch.path.is_empty() {
                            self.differ(read, compiled)
                        } else {
                            mismatch
                        }
                    });
                }
                _ => false,
            },
            ValueType::Struct(layout) => return self.structure(read, layout, compiled),
            ValueType::Function(ty) => return self.device_fn(read, ty, compiled),
            ValueType::Enum(layout) => return self.enumeration(read, layout, compiled),
        };
        if is_same { Ok(()) } else { Err(self.differ(read, compiled)) }
    }

    /// Compares the type of a function with a function type.
    pub(super) fn function(&self, read: &FunctionType, compiled: NodeId) -> Compared {
        let (result, parameters) = self.debug.function_type(compiled);
        let differ = || {
            let spelled: Vec<_> = parameters.iter().map(|it| self.debug.spell(*it)).collect();
            let result = result.map(|it| format!(" -> {}", self.debug.spell(Some(it))));
            let compiled = format!("fn({}){}", spelled.join(", "), result.unwrap_or_default());
            Mismatch::of_types(read, &compiled)
        };
        if parameters.len() != read.parameters.len() || result.is_some() != read.result.is_some() {
            return Err(differ());
        }
        let results = read.result.iter().zip(result.map(Some));
        for (read, compiled) in
            read.parameters.iter().zip(parameters.iter().copied()).chain(results)
        {
            let Some(compiled) = compiled else { return Err(differ()) };
            self.value(read, compiled)
                .map_err(|mismatch| if mismatch.path.is_empty() { differ() } else { mismatch })?;
        }
        Ok(())
    }

    /// Compares a tensor map, whose type is `TensorMap<T, RANK>` of the device crate.
    pub(super) fn tensor_map(
        &self,
        kind: &ParameterKind,
        read: TensorMap<'_>,
        compiled: NodeId,
    ) -> Compared {
        let name = self.debug.name(compiled);
        let wanted = match read.access {
            Access::Read => "TensorMap<",
            Access::Write => "TensorMapMut<",
        };
        let is_ours = self.debug.is_of_crate(compiled, "kernelmill_device")
            && name.starts_with(wanted)
            && name.ends_with(&format!(", {}>", read.rank));
        let element = self.debug.type_argument(compiled).filter(|_| is_ours);
        match element {
            Some(element) if self.value(read.element, element).is_ok() => Ok(()),
            _ => Err(Mismatch::of_types(kind, &format!("&{name}"))),
        }
    }

    fn differ(&self, read: &ValueType, compiled: NodeId) -> Mismatch {
        Mismatch::of_types(read, &self.debug.spell(Some(compiled)))
    }

    /// Whether it is this scalar: one of the language's, or of the crate `half` or the device library in its place.
    fn is_scalar(&self, scalar: Scalar, compiled: NodeId) -> bool {
        let is_half = matches!(scalar, Scalar::F16 | Scalar::Bf16);
        let is_of_half = || {
            let is_known = ["half", "kernelmill_device"];
            let is_known = is_known.iter().any(|it| self.debug.is_of_crate(compiled, it));
            is_known && self.debug.name(compiled) == scalar.name()
        };
        self.debug.is_basic(compiled, scalar.name()) || is_half && is_of_half()
    }

    /// Compares a struct by its name and its fields: their number, names, offsets, types, and which are private.
    fn structure(&self, read: &ValueType, layout: &StructLayout, compiled: NodeId) -> Compared {
        let members = self.debug.structure(compiled);
        let Some(members) = members.filter(|_| self.debug.name(compiled) == *layout.name) else {
            return Err(self.differ(read, compiled));
        };
        let Members { with_bytes: members, is_sealed } = members;
        for (field, member) in layout.fields.iter().zip(&members) {
            if *field.name != *member.name || field.offset != member.offset {
                let at = |name: &str, offset: u64| format!("{name} at byte {offset}");
                let read = at(&format!("`{}: {}`", field.name, field.ty), field.offset);
                let spelled = self.debug.spell(Some(member.ty));
                let compiled = at(&format!("`{}: {spelled}`", member.name), member.offset);
                return Err(Mismatch::new(read, compiled).within(&field.name));
            }
            self.value(&field.ty, member.ty).map_err(|mismatch| mismatch.within(&field.name))?;
            if field.public && (!member.public || is_sealed) {
                let compiled = match member.public {
                    true => "a `pub` field beside a private field of size zero",
                    false => "a private field",
                };
                let mismatch = Mismatch::new("a `pub` field".to_owned(), compiled.to_owned());
                return Err(mismatch.within(&field.name));
            }
        }
        const NONE: &str = "no such field";
        if let Some(field) = layout.fields.get(members.len()) {
            let mismatch = Mismatch::new(quoted(&field.ty.to_string()), NONE.to_owned());
            return Err(mismatch.within(&field.name));
        }
        if let Some(member) = members.get(layout.fields.len()) {
            let mismatch =
                Mismatch::new(NONE.to_owned(), quoted(&self.debug.spell(Some(member.ty))));
            return Err(mismatch.within(&member.name));
        }
        Ok(())
    }

    /// Compares an enum by its name, its integer, and its variants with their values.
    fn enumeration(&self, read: &ValueType, layout: &EnumLayout, compiled: NodeId) -> Compared {
        let found = self.debug.enumeration(compiled);
        let Some((integer, variants)) = found.filter(|_| self.debug.name(compiled) == *layout.name)
        else {
            return Err(self.differ(read, compiled));
        };
        let read = layout.variants.iter().map(|it| (it.name.clone(), it.value));
        let read: Vec<_> = read.collect();
        if self.debug.is_basic(integer, layout.scalar.name()) && read == variants {
            return Ok(());
        }
        let spell = |integer: &str, variants: &[Variant<'_>]| {
            let variants = variants.iter().map(|(name, value)| format!("{name} = {value}"));
            let variants = variants.collect::<Vec<_>>().join(", ");
            format!("`enum {}` of `{integer}` with `{variants}`", layout.name)
        };
        let compiled = spell(&self.debug.name(integer), &variants);
        Err(Mismatch::new(spell(layout.scalar.name(), &read), compiled))
    }

    /// Compares a `DeviceFn<fn(..) -> ..>` by the function pointer that is its argument.
    fn device_fn(&self, read: &ValueType, ty: &FunctionType, compiled: NodeId) -> Compared {
        let is_ours = self.debug.name(compiled).starts_with("DeviceFn<")
            && self.debug.is_of_crate(compiled, "kernelmill_device");
        let pointer = self.debug.type_argument(compiled).filter(|_| is_ours);
        // Others have another calling convention.
        let start = match ty.safety {
            Safety::Safe => "fn(",
            Safety::Unsafe => "unsafe fn(",
        };
        // Names for Microsoft's debuggers, `f32 (*)(u8)`, say nothing of either.
        let is_as_read = |pointer: &NodeId| {
            let name = self.debug.name(*pointer);
            name.starts_with(start) || name.contains(" (*)(")
        };
        let function = pointer.filter(is_as_read).and_then(|pointer| self.debug.pointee(pointer));
        match function {
            Some(function) if self.function(ty, function).is_ok() => Ok(()),
            _ => Err(self.differ(read, compiled)),
        }
    }
}
