//! Helps: what to write instead of a type that cannot cross between host and device.

use super::{
    scope::{Found, ModuleId, TypeItem},
    syntax::{bare, disjoint_element, first_argument, segments, tensor_map},
    text::Text,
    types::{Position, Types},
    unsupported::UnsupportedType,
};
use kernelmill_artifact::Access;
use syn::{Generics, Pat, PatType, Path, PointerMutability, Type, TypeArray, TypeReference};

const FIELDS: &str = "define a `#[repr(C)]` struct with these fields";
const CANNOT_CROSS: &str = "which cannot cross from host to device";

impl Types<'_, '_> {
    /// Refuses a type with parameters, or one that contains itself.
    pub(super) fn generic_or_circular(
        &self,
        module: ModuleId,
        ty: &Type,
        generics: &Generics,
    ) -> UnsupportedType {
        let written = self.scope.text(module).written(ty);
        if generics.params.is_empty() {
            let help = "remove the field that leads back to the type: a value without pointers cannot contain \
                        itself";
            return UnsupportedType::new(written, "which contains itself", help);
        }
        let help = "define a `#[repr(C)]` struct without type parameters for it";
        UnsupportedType::new(written, "a generic type", help)
    }

    /// Refuses an array whose length only the compiler could know.
    pub(super) fn unknown_length(&self, module: ModuleId, array: &TypeArray) -> UnsupportedType {
        let text = self.scope.text(module);
        let help = format!(
            "write `{}` as a number, or as a `const` of this file that is one",
            text.written(&array.len)
        );
        UnsupportedType::new(
            text.written(array),
            "an array whose length cannot be read from the source",
            help,
        )
    }

    /// Refuses an array of no length, or of more bytes than a device has.
    pub(super) fn impossible_length(&self, module: ModuleId, array: &TypeArray) -> UnsupportedType {
        let text = self.scope.text(module);
        let why = "an array that is empty or larger than the memory of a device";
        UnsupportedType::new(
            text.written(array),
            why,
            "give it a length of at least 1 that fits in memory",
        )
    }

    /// Refuses a `&TensorMap<T, D>` whose element or number of dimensions no device copies.
    pub(super) fn no_tensor_map(&self, module: ModuleId, ty: &Type) -> UnsupportedType {
        let written = self.scope.text(module).written(ty);
        let why = "a tensor map that does not have 1 to 5 dimensions of numbers";
        let help = "write the type of its elements, an integer or a float of 1 to 8 bytes, and the number of \
                    dimensions: `&TensorMap<f32, 2>`";
        UnsupportedType::new(written, why, help)
    }

    /// Refuses a `DeviceFn<F>` whose `F` is not written as a plain function type.
    pub(super) fn no_function_type(&self, module: ModuleId, ty: &Type) -> UnsupportedType {
        let written = self.scope.text(module).written(ty);
        let why = "whose function type cannot be passed by the host";
        let help = "write it as a function of Rust without lifetimes: `DeviceFn<fn(f32) -> f32>`";
        UnsupportedType::new(written, why, help)
    }

    /// Refuses a `DeviceFn<F>` whose functions take or return what no device passes.
    pub(super) fn no_plain_function(
        &self,
        module: ModuleId,
        ty: &Type,
        help: &str,
    ) -> UnsupportedType {
        let written = self.scope.text(module).written(ty);
        UnsupportedType::new(
            written,
            "whose functions take or return types that cannot cross from host to device",
            help,
        )
    }

    /// Refuses a type that is none of those that can cross.
    pub(super) fn refuse(&self, module: ModuleId, ty: &Type) -> UnsupportedType {
        let written = self.scope.text(module).written(ty);
        let help = match self.position {
            Position::Parameter => {
                instead_of_parameter(self, module, ty) + &of_definition(self, module, ty)
            }
            Position::Element(_) | Position::Inside => instead_inside(self, module, ty),
        };
        UnsupportedType::new(written, CANNOT_CROSS, help)
    }
}

/// What to write in the definition of what a parameter of this type leads to, so that it can cross once the parameter is
/// written in another way: `&Plain` as `Plain`.
fn of_definition(types: &Types<'_, '_>, module: ModuleId, ty: &Type) -> String {
    let inner = behind(ty);
    if std::ptr::eq(inner, bare(ty)) {
        return String::new();
    }
    let mut inside = Types::new(types.scope, types.name);
    inside.position = Position::Inside;
    match inside.value(module, inner) {
        Err(refusal) if refusal.fields.is_empty() && refusal.at.is_some() => {
            format!(", and {}", refusal.help)
        }
        _ => String::new(),
    }
}

/// The type that references, pointers, slices, arrays and boxes lead to.
fn behind(ty: &Type) -> &Type {
    match bare(ty) {
        Type::Reference(reference) => behind(&reference.elem),
        Type::Ptr(pointer) => behind(&pointer.elem),
        Type::Slice(slice) => behind(&slice.elem),
        Type::Array(array) => behind(&array.elem),
        Type::Path(path) => match (last_name(&path.path).as_str(), argument(&path.path)) {
            ("Vec" | "VecDeque" | "Box" | "Rc" | "Arc" | "Option", Some(inner)) => behind(inner),
            _ => bare(ty),
        },
        other => other,
    }
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
            ("Option", Some(_)) => optional(name, &path.path, &written),
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
        (Type::Path(path), _) if matches!(last_name(&path.path).as_str(), "str" | "String") => {
            text_as_bytes(name)
        }
        (Type::Path(path), mutability) if last_name(&path.path) == "Vec" => {
            let element = argument(&path.path).map_or_else(|| "f32".to_owned(), written);
            if mutability.is_some() { write(name, &element) } else { read(name, &element) }
        }
        (Type::Path(path), _) if last_name(&path.path) == "Option" => {
            optional(name, &path.path, written)
        }
        (Type::Tuple(_), None) => FIELDS.to_owned(),
        (Type::TraitObject(_), _) => concrete(),
        (_, Some(_)) => format!("{}, of length 1", write(name, &target)),
        (_, None) => format!("write `{name}: {target}`, by value"),
    }
}

/// What to write for a value that may not be there.
fn optional(name: &str, path: &Path, written: &dyn Fn(&Type) -> String) -> String {
    match argument(path).map(bare) {
        Some(inner @ Type::Reference(reference))
            if matches!(bare(&reference.elem), Type::Slice(_)) =>
        {
            let inner = match reference.mutability {
                Some(_) => instead_of_reference(name, reference, written),
                None => format!("write `{name}: {}`", written(inner)),
            };
            format!("{inner}, with a `bool` for whether it is there")
        }
        Some(inner @ Type::Path(path)) if disjoint_element(&path.path).is_some() => {
            format!("write `mut {name}: {}`, with a `bool` for whether it is there", written(inner))
        }
        _ => "pass the value, and a `bool` for whether it is there".to_owned(),
    }
}

/// What to write for a kernel that returns something.
pub(super) fn instead_of_result(ty: &Type, written: &str) -> String {
    let through = |value: &str| {
        format!("write it through a parameter, for example `mut result: DisjointSlice<{value}>`")
    };
    let Type::Path(path) = bare(ty) else {
        return match bare(ty) {
            Type::Array(_) => through(written),
            _ => "return nothing, and write the results through parameters: `mut result: DisjointSlice<f32>`".to_owned(),
        };
    };
    match last_name(&path.path).as_str() {
        "Result" => "return nothing, and `panic!` where there is an error: the host gets it as an error of the launch".to_owned(),
        "Option" | "Vec" | "String" | "Box" => {
            "return nothing, and write the results through parameters: `mut result: DisjointSlice<f32>`".to_owned()
        }
        _ => through(written),
    }
}

/// What is wrong with a parameter that has no plain name, and what to write.
pub(super) fn instead_of_pattern(typed: &PatType, text: &Text<'_>) -> (String, String) {
    let (pattern, ty) = (text.written(&typed.pat), text.written(&typed.ty));
    match (&*typed.pat, bare(&typed.ty)) {
        (Pat::Wild(_), _) => (
            "has a parameter without a name, `_`".to_owned(),
            format!("write `_unused: {ty}`, or remove it: the wrapper has the parameters' names"),
        ),
        (_, Type::Tuple(_)) => (
            format!("destructures a parameter, `{pattern}`"),
            "write a parameter for each field".to_owned(),
        ),
        _ => (
            format!("destructures a parameter, `{pattern}`"),
            format!("write `value: {ty}`, and destructure it in the kernel"),
        ),
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
        Type::Tuple(_) => FIELDS.to_owned(),
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
            TypeItem::Union => {
                return format!("pass `{name}` as `[u8; N]`, or as a `#[repr(C)]` struct");
            }
            TypeItem::Struct(_)
            | TypeItem::Alias(_)
            | TypeItem::Enum(_)
            | TypeItem::Function(_) => {}
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
        _ => {
            let define = format!("define `{name}` as a `#[repr(C)]` struct in this file");
            match module_of_program(types, module, path) {
                Some(line) => {
                    format!("{define}, or in a module of the program that it takes in: `{line}`")
                }
                None => define,
            }
        }
    }
}

/// The line by which a kernel file takes in the module of the program that a type without a definition is in, or may be put
/// into. `None` where the type is of another crate, or the source is no kernel file.
fn module_of_program(types: &Types<'_, '_>, module: ModuleId, path: &Path) -> Option<String> {
    let file = types.scope.text(0).display();
    if file.starts_with(['.', '/']) || file.starts_with("src/") || file.contains("/src/") {
        return None;
    }
    let segments = segments(path);
    let (first, rest) = segments.split_first()?;
    let full = match types.scope.import(module, first) {
        Some(import) => [import, rest].concat(),
        None => segments.clone(),
    };
    let name = match (full.as_slice(), types.scope.find_type(module, &segments)) {
        (_, Found::Here(..)) => return None,
        ([root, name, _, ..], _) if root == "crate" => name,
        (_, Found::Nothing) => "types",
        (_, Found::Elsewhere(_)) => return None,
    };
    let up = "../".repeat(file.matches('/').count());
    Some(format!("#[cfg(kernelmill)] #[path = \"{up}src/{name}.rs\"] mod {name};"))
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
