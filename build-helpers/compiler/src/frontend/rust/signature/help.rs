//! Types that cannot cross between host and device, and what to write instead of each.

use super::{
    scope::{Found, ModuleId, TypeItem},
    types::{Position, Types, bare, disjoint_element, first_argument, segments, tensor_map},
};
use crate::diagnostic::Place;
use kernelmill_artifact::Access;
use syn::{Generics, Path, PointerMutability, Type, TypeArray, TypeReference};

/// Why a type cannot cross.
pub(super) struct Refusal {
    /// The type that is refused, as it is written; empty until somebody who knows fills it in.
    pub(super) written: String,
    /// What about it, to follow its name.
    pub(super) why: &'static str,
    /// What to write instead.
    pub(super) help: String,
    /// The fields that lead to it, innermost first.
    pub(super) fields: Vec<String>,
    /// Where it is, if that is not in the parameter itself.
    pub(super) at: Option<Box<Place>>,
}

const CANNOT_CROSS: &str = "which cannot cross from host to device";

impl Refusal {
    fn new(written: String, why: &'static str, help: impl Into<String>) -> Self {
        Self { written, why, help: help.into(), fields: Vec::new(), at: None }
    }

    /// The same about a field, or an array's element, of this name.
    pub(super) fn within(mut self, field: &str) -> Self {
        self.fields.push(field.to_owned());
        self
    }

    /// Fills in where it is, unless that is known more exactly.
    pub(super) fn or_at(mut self, place: Place) -> Self {
        self.at.get_or_insert_with(|| Box::new(place));
        self
    }

    /// Fills in how the type is written, unless that is known.
    pub(super) fn or_written(mut self, written: String) -> Self {
        if self.written.is_empty() {
            self.written = written;
        }
        self
    }

    /// The fields from the outermost in: `inner.data[_]`.
    pub(super) fn path(&self) -> String {
        let mut path = String::new();
        for field in self.fields.iter().rev() {
            if !path.is_empty() && !field.starts_with('[') {
                path.push('.');
            }
            path.push_str(field);
        }
        path
    }
}

pub(super) fn not_repr_c(name: &str, place: Place) -> Refusal {
    let help = format!("write `#[repr(C)]` above `struct {name}`");
    Refusal::new(String::new(), "a struct without `#[repr(C)]`", help).or_at(place)
}

pub(super) fn packed(name: &str, place: Place) -> Refusal {
    let help = format!("remove `packed` from `struct {name}`, or pass its fields one by one");
    Refusal::new(String::new(), "a packed struct", help).or_at(place)
}

pub(super) fn no_fields(name: &str, place: Place) -> Refusal {
    let help = format!("leave it out, or give `{name}` a field");
    Refusal::new(String::new(), "a struct without fields", help).or_at(place)
}

pub(super) fn generic_or_circular(
    types: &Types<'_, '_>,
    module: ModuleId,
    ty: &Type,
    generics: &Generics,
) -> Refusal {
    let written = types.scope.text(module).written(ty);
    if generics.params.is_empty() {
        let help = "remove the circle; a device has no pointers to hold such a type";
        return Refusal::new(written, "which contains itself", help);
    }
    let help = "define a `#[repr(C)]` struct without type parameters for it";
    Refusal::new(written, "a generic type", help)
}

pub(super) fn unknown_length(
    types: &Types<'_, '_>,
    module: ModuleId,
    array: &TypeArray,
) -> Refusal {
    let text = types.scope.text(module);
    let help = format!(
        "write `{}` as a number, or as a `const` of this file that is one",
        text.written(&array.len)
    );
    Refusal::new(text.written(array), "an array whose length is not known here", help)
}

pub(super) fn impossible_length(
    types: &Types<'_, '_>,
    module: ModuleId,
    array: &TypeArray,
) -> Refusal {
    let text = types.scope.text(module);
    let why = "an array of no size that a device could take";
    Refusal::new(text.written(array), why, "give it a length of at least 1 that fits in memory")
}

/// Refuses a `&TensorMap<T, D>` whose element or number of dimensions no device copies.
pub(super) fn no_tensor_map(types: &Types<'_, '_>, module: ModuleId, ty: &Type) -> Refusal {
    let written = types.scope.text(module).written(ty);
    let why = "a tensor map of other than 1 to 5 dimensions of numbers";
    let help = "write the type of its elements, an integer or a float of 1 to 8 bytes, and the number of \
                dimensions: `&TensorMap<f32, 2>`";
    Refusal::new(written, why, help)
}

/// Refuses a `DeviceFn<F>` whose `F` is not written as a plain function type.
pub(super) fn no_function_type(types: &Types<'_, '_>, module: ModuleId, ty: &Type) -> Refusal {
    let written = types.scope.text(module).written(ty);
    let why = "whose type of functions is none that the host can give";
    let help = "write it as a safe function of Rust without lifetimes: `DeviceFn<fn(f32) -> f32>`";
    Refusal::new(written, why, help)
}

/// Refuses a `DeviceFn<F>` whose functions take or return what no device passes.
pub(super) fn no_plain_function(
    types: &Types<'_, '_>,
    module: ModuleId,
    ty: &Type,
    help: &str,
) -> Refusal {
    let written = types.scope.text(module).written(ty);
    Refusal::new(written, "of functions that take or return what cannot cross", help)
}

/// Refuses a type that is none of those that can cross.
pub(super) fn refuse(types: &Types<'_, '_>, module: ModuleId, ty: &Type) -> Refusal {
    let written = types.scope.text(module).written(ty);
    let help = match types.position {
        Position::Parameter => instead_of_parameter(types, module, ty),
        Position::Element(_) | Position::Inside => instead_inside(types, module, ty),
    };
    Refusal::new(written, CANNOT_CROSS, help)
}

/// What to write for a parameter of this type.
fn instead_of_parameter(types: &Types<'_, '_>, module: ModuleId, ty: &Type) -> String {
    let name = types.name;
    let written = |node: &Type| types.scope.text(module).written(node);
    match bare(ty) {
        Type::Reference(reference) => instead_of_reference(name, reference, &written),
        Type::Ptr(pointer) => match pointer.mutability {
            PointerMutability::Const(_) => read(name, &written(&pointer.elem)),
            PointerMutability::Mut(_) => write(name, &written(&pointer.elem)),
        },
        Type::Slice(slice) => read(name, &written(&slice.elem)),
        Type::Path(path) => match (last_name(&path.path).as_str(), argument(&path.path)) {
            ("String" | "str", _) => text_as_bytes(name),
            ("Vec" | "VecDeque", Some(element)) => {
                let element = written(element);
                let read = read(name, &element);
                format!("{read} to read it, `mut {name}: DisjointSlice<{element}>` to write it")
            }
            ("Box" | "Rc" | "Arc", Some(inner)) => match bare(inner) {
                Type::Slice(slice) => read(name, &written(&slice.elem)),
                Type::TraitObject(_) => concrete(),
                _ => format!("write `{name}: {}`, by value", written(inner)),
            },
            ("TensorMap" | "TensorMapMut", _) => format!("write `{name}: &{}`", written(ty)),
            ("DisjointSlice", None) => write(name, "f32") + ", with the type of its elements",
            (atomic, None) if atomic.starts_with("Atomic") => read(name, atomic),
            _ => instead_inside(types, module, ty),
        },
        _ => instead_inside(types, module, ty),
    }
}

fn instead_of_reference(
    name: &str,
    reference: &TypeReference,
    written: &dyn Fn(&Type) -> String,
) -> String {
    let target = written(&reference.elem);
    match (bare(&reference.elem), &reference.mutability) {
        (Type::Slice(slice), Some(_)) => write(name, &written(&slice.elem)),
        (Type::Array(array), Some(_)) => write(name, &written(&array.elem)),
        (Type::Array(array), None) => {
            format!("{}, or `{name}: {target}` by value", read(name, &written(&array.elem)))
        }
        (Type::Path(path), _) if disjoint_element(&path.path).is_some() => {
            format!("write `mut {name}: {target}`, without the reference")
        }
        (Type::Path(path), Some(_)) if tensor_map(&path.path).is_some() => {
            format!("write `{name}: &{target}`")
        }
        (Type::Path(path), None) if path.path.is_ident("str") => text_as_bytes(name),
        (Type::TraitObject(_), _) => concrete(),
        (_, Some(_)) => format!("{}, of length 1", write(name, &target)),
        (_, None) => format!("write `{name}: {target}`, by value"),
    }
}

fn read(name: &str, element: &str) -> String {
    format!("write `{name}: &[{element}]`")
}

fn write(name: &str, element: &str) -> String {
    format!("write `mut {name}: DisjointSlice<{element}>`")
}

fn instead_inside(types: &Types<'_, '_>, module: ModuleId, ty: &Type) -> String {
    let own = match types.position {
        Position::Element(Access::Read) => "`&[T]`",
        Position::Element(Access::Write) => "`DisjointSlice<T>`",
        Position::Parameter | Position::Inside => "`&[T]` or `DisjointSlice<T>`",
    };
    match bare(ty) {
        Type::Reference(_) | Type::Ptr(_) | Type::Slice(_) => {
            format!("pass that memory as a parameter of its own: {own}")
        }
        Type::Tuple(tuple) if tuple.elems.is_empty() => "leave it out".to_owned(),
        Type::Tuple(_) => "define a `#[repr(C)]` struct with these fields".to_owned(),
        Type::ImplTrait(_) | Type::TraitObject(_) => concrete(),
        Type::FnPtr(_) => {
            "call the function by its name in the kernel, or take a `DeviceFn<fn(..) -> ..>`".into()
        }
        Type::Path(path) if path.qself.is_none() => instead_of_name(types, module, &path.path, own),
        _ => "write the type out".to_owned(),
    }
}

fn instead_of_name(types: &Types<'_, '_>, module: ModuleId, path: &Path, own: &str) -> String {
    let name = last_name(path);
    if let Found::Here(_, item) = types.scope.find_type(module, &segments(path)) {
        match item {
            TypeItem::Enum => return format!("pass a number, and make it `{name}` in the kernel"),
            TypeItem::Union => {
                return format!("pass `{name}` as `[u8; N]`, or as a `#[repr(C)]` struct");
            }
            TypeItem::Struct(_) | TypeItem::Alias(_) => {}
        }
    }
    match name.as_str() {
        "String" | "str" | "Vec" | "VecDeque" | "Box" | "Rc" | "Arc" => {
            format!("pass that memory as a parameter of its own: {own}")
        }
        "DisjointSlice" => {
            "write `DisjointSlice<T>` itself as the parameter's type, with no alias".to_owned()
        }
        "f16" | "bf16" => format!("write `use half::{name};` at the top of the file"),
        "Option" => "pass the value, and a `bool` for whether it is there".to_owned(),
        "SharedArray" => format!(
            "write `static mut {}: SharedArray<T, N> = SharedArray::UNINIT;` in the kernel",
            types.name.to_uppercase()
        ),
        "Self" => "write the type out".to_owned(),
        atomic if atomic.starts_with("Atomic") => format!("pass `&[{atomic}]` as a parameter"),
        _ => format!("define `{name}` as a `#[repr(C)]` struct in this file"),
    }
}

fn text_as_bytes(name: &str) -> String {
    format!("write `{name}: &[u8]`, and pass the text's bytes")
}

fn concrete() -> String {
    "write one concrete type; a kernel is compiled once".to_owned()
}

fn last_name(path: &Path) -> String {
    segments(path).pop().unwrap_or_default()
}

fn argument(path: &Path) -> Option<&Type> {
    path.segments.last().and_then(first_argument)
}
