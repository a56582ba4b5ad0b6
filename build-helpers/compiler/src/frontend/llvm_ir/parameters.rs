//! Parameters of kernels: what is declared of them, compared with the types in the module, and what could be
//! declared where nothing is.

use kernelmill_artifact::{Access, Parameter, ParameterKind, Scalar, ValueType};
use kernelmill_llvm::{
    ir::{Place, Type, TypeKind, Value},
    machine::Machine,
};

use super::origin::Origin;

/// The address space of shared memory.
const SHARED: u32 = 3;

/// A parameter as the module has it.
pub(super) struct Slot<'c> {
    ty: Type<'c>,
    /// What is passed by address and is the kernel's own, with its alignment.
    own: Option<(Type<'c>, u64)>,
    name: String,
}

/// The parameters of a kernel.
pub(super) fn slots<'c>(kernel: Value<'c>, machine: &Machine) -> Vec<Slot<'c>> {
    let types = kernel.value_type().parameters();
    let slot = |(index, (ty, value)): (usize, (Type<'c>, Value<'c>))| {
        let place = Place::Parameter(index as u32);
        let own = kernel.type_attribute(place, "byval").map(|ty| {
            let align = kernel.attribute_number(place, "align").filter(|align| *align > 0);
            (ty, align.unwrap_or_else(|| machine.align_of(ty)))
        });
        let name = value.name();
        let is_name = !name.is_empty()
            && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
            && !name.starts_with(|it: char| it.is_ascii_digit());
        Slot { ty, own, name: if is_name { name } else { format!("argument_{index}") } }
    };
    types.into_iter().zip(kernel.parameters()).enumerate().map(slot).collect()
}

/// What is declared of a kernel's parameters, once it is compared with the module; or everything that differs.
pub(super) fn declared(
    parameters: &[Parameter],
    slots: &[Slot<'_>],
    (spaces, origin): (&[Option<u32>], Origin),
    machine: &Machine,
) -> Result<Vec<Parameter>, Vec<String>> {
    if parameters.len() != slots.len() {
        return Err(vec![format!(
            "the settings declare {} parameters, and the kernel has {}",
            parameters.len(),
            slots.len()
        )]);
    }
    let (mut good, mut faults) = (Vec::new(), Vec::new());
    for ((parameter, slot), space) in parameters.iter().zip(slots).zip(spaces) {
        match kind(&parameter.kind, slot, machine) {
            Ok(()) => {
                let kind = in_space(parameter.kind.clone(), *space, origin);
                good.push(Parameter { name: parameter.name.clone(), kind });
            }
            Err(there) => faults.push(format!(
                "the parameter `{}` is declared as `{}`, and is {there} in the module",
                parameter.name,
                spelled(&parameter.kind)
            )),
        }
    }
    if faults.is_empty() { Ok(good) } else { Err(faults) }
}

/// Gives the kind of a pointer that its address space says: shared memory, or memory that is only read.
pub(super) fn in_space(kind: ParameterKind, space: Option<u32>, origin: Origin) -> ParameterKind {
    match kind {
        ParameterKind::Pointer { element, .. } if space == Some(SHARED) => {
            ParameterKind::Shared { element }
        }
        ParameterKind::Pointer { element, .. }
            if space.is_some() && space == origin.constants() =>
        {
            ParameterKind::Pointer { element, access: Access::Read }
        }
        other => other,
    }
}

/// Compares a kind with a parameter; what there is instead where they differ.
fn kind(kind: &ParameterKind, slot: &Slot<'_>, machine: &Machine) -> Result<(), String> {
    let fits = match (kind, slot.own) {
        (ParameterKind::Pointer { .. }, None) => slot.ty.is_pointer(),
        (ParameterKind::Value(value), Some((ty, align))) => {
            (value.size(), value.align()) == (machine.size_of(ty), align)
        }
        (ParameterKind::Value(value), None) => is_value(value, slot.ty),
        _ => false,
    };
    if fits { Ok(()) } else { Err(there(slot, machine)) }
}

fn is_value(value: &ValueType, ty: Type<'_>) -> bool {
    use Scalar as S;
    let scalar = |scalar: Scalar, ty: Type<'_>| match (scalar, ty.kind()) {
        (S::F64, kind) => kind == TypeKind::Double,
        (S::F32, kind) => kind == TypeKind::Float,
        (S::F16, TypeKind::Half) | (S::Bf16, TypeKind::BFloat) => true,
        (S::Bool, TypeKind::Integer) => ty.is_int(1) || ty.is_int(8),
        (scalar, TypeKind::Integer) => ty.int_width().map(u64::from) == Some(scalar.size() * 8),
        _ => false,
    };
    match value {
        ValueType::Scalar(it) => scalar(*it, ty),
        ValueType::Array(element, length) => match (&**element, ty.lanes()) {
            (ValueType::Scalar(it), Some(lanes)) => {
                u64::from(lanes) == *length && scalar(*it, ty.element())
            }
            _ => false,
        },
        _ => false,
    }
}

/// A parameter of the module, in LLVM's notation, with what can be declared for it.
fn there(slot: &Slot<'_>, machine: &Machine) -> String {
    match slot.own {
        Some((ty, align)) => {
            let bytes = machine.size_of(ty);
            format!(
                "{bytes} bytes by value, aligned to {align}, such as `{}`",
                suggested(slot, machine)
            )
        }
        None => format!("`{}`", notation(slot.ty)),
    }
}

fn notation(ty: Type<'_>) -> String {
    match ty.kind() {
        TypeKind::Integer => format!("i{}", ty.int_width().unwrap_or_default()),
        TypeKind::Pointer => "ptr".to_owned(),
        TypeKind::Half => "half".to_owned(),
        TypeKind::BFloat => "bfloat".to_owned(),
        TypeKind::Float => "float".to_owned(),
        TypeKind::Double => "double".to_owned(),
        TypeKind::Vector => {
            format!("<{} x {}>", ty.lanes().unwrap_or_default(), notation(ty.element()))
        }
        other => format!("{other:?}"),
    }
}

/// A declaration of a kernel's parameters, as far as the module says it: signs, and what a pointer points to, it
/// does not.
pub(super) fn suggestion(slots: &[Slot<'_>], machine: &Machine) -> String {
    let slots = slots.iter().map(|slot| format!("\"{}: {}\"", slot.name, suggested(slot, machine)));
    slots.collect::<Vec<_>>().join(", ")
}

fn suggested(slot: &Slot<'_>, machine: &Machine) -> String {
    if let Some((ty, align)) = slot.own {
        let (bytes, unit) = (machine.size_of(ty), align.clamp(1, 8));
        return format!("[u{}; {}]", unit * 8, bytes / unit);
    }
    let scalar = |ty: Type<'_>| match ty.kind() {
        TypeKind::Integer if ty.is_int(1) => "bool".to_owned(),
        TypeKind::Integer => format!("u{}", ty.int_width().unwrap_or_default()),
        TypeKind::Half => "half::f16".to_owned(),
        TypeKind::BFloat => "half::bf16".to_owned(),
        TypeKind::Double => "f64".to_owned(),
        _ => "f32".to_owned(),
    };
    match slot.ty.kind() {
        TypeKind::Pointer => "*mut f32".to_owned(),
        TypeKind::Vector => {
            format!("[{}; {}]", scalar(slot.ty.element()), slot.ty.lanes().unwrap_or_default())
        }
        _ => scalar(slot.ty),
    }
}

/// A kind as it is declared.
fn spelled(kind: &ParameterKind) -> String {
    match kind {
        ParameterKind::Pointer { element, access: Access::Read } => format!("*const {element}"),
        ParameterKind::Pointer { element, .. } => format!("*mut {element}"),
        other => other.crossing().to_string(),
    }
}
