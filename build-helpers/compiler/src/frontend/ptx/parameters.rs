//! Parameters of kernels in PTX: what is declared of them, compared with their `.param`s, and what these say by
//! themselves. A number says its width, and mostly whether it is whole; a pointer is one where it says `.ptr`, and does
//! not say what it points to.

use kernelmill_artifact::{Access, Parameter, ParameterKind, PtxParameter, Scalar, ValueType};

/// The parameters of a kernel as they are declared, or everything in which that is not what the file has.
pub(super) fn declared(
    parameters: &[Parameter],
    there: &[PtxParameter<'_>],
) -> Result<Vec<Parameter>, Vec<String>> {
    if parameters.len() != there.len() {
        let (declared, has) = (parameters.len(), there.len());
        return Err(vec![format!(
            "the settings declare {declared} parameters, and the kernel has {has}"
        )]);
    }
    let differs = |(parameter, param): (&Parameter, &PtxParameter<'_>)| {
        (!fits(&parameter.kind, param)).then(|| {
            format!(
                "the parameter `{}` is declared as `{}`, and is {} in the file",
                parameter.name,
                spelled(&parameter.kind),
                shown(param)
            )
        })
    };
    let faults: Vec<_> = parameters.iter().zip(there).filter_map(differs).collect();
    if faults.is_empty() { Ok(parameters.to_vec()) } else { Err(faults) }
}

/// The parameters of a kernel as far as its file says them; `None` where it does not.
pub(super) fn known(there: &[PtxParameter<'_>]) -> Option<Vec<Parameter>> {
    let known = |param: &PtxParameter<'_>| {
        let kind = match (param.pointer, param.length) {
            (Some(_), None) => {
                let element = ValueType::Scalar(Scalar::U8);
                ParameterKind::Pointer { element, access: Access::Write }
            }
            (None, None) => ParameterKind::Value(ValueType::Scalar(number(param.ty)?)),
            _ => return None,
        };
        Some(Parameter { name: param.name.to_owned().into(), kind })
    };
    there.iter().map(known).collect()
}

/// What a number is whose type says it. An unsigned one of 64 bits may be a pointer, as compilers write those.
fn number(ty: &str) -> Option<Scalar> {
    Some(match ty {
        ".u8" => Scalar::U8,
        ".s8" => Scalar::I8,
        ".u16" => Scalar::U16,
        ".s16" => Scalar::I16,
        ".u32" => Scalar::U32,
        ".s32" => Scalar::I32,
        ".s64" => Scalar::I64,
        ".f32" => Scalar::F32,
        ".f64" => Scalar::F64,
        _ => return None,
    })
}

/// The bytes of a type, and whether its values are numbers with a fraction; `None` where it is bits.
fn width(ty: &str) -> Option<(u64, Option<bool>)> {
    let (kind, bits) = (ty.get(1..2)?, ty.get(2..)?.parse::<u64>().ok()?);
    let is_float = match kind {
        "f" => Some(true),
        "u" | "s" => Some(false),
        "b" => None,
        _ => return None,
    };
    Some((bits / 8, is_float))
}

/// Whether a kind is passed as a `.param` is.
fn fits(kind: &ParameterKind, param: &PtxParameter<'_>) -> bool {
    let Some((bytes, is_float)) = width(param.ty) else { return false };
    match (kind, param.length) {
        (ParameterKind::Pointer { .. }, None) => bytes == 8 && is_float != Some(true),
        (ParameterKind::Value(value), None) => {
            let ValueType::Scalar(scalar) = value else { return false };
            let has_fraction =
                matches!(scalar, Scalar::F64 | Scalar::F32 | Scalar::F16 | Scalar::Bf16);
            let is_kind = is_float.is_none_or(|is_float| is_float == has_fraction);
            param.pointer.is_none() && value.size() == bytes && is_kind
        }
        (ParameterKind::Value(value), Some(length)) => {
            let align = param.align.unwrap_or(bytes);
            length.checked_mul(bytes) == Some(value.size()) && value.align() <= align
        }
        _ => false,
    }
}

/// A `.param` as the file has it.
fn shown(param: &PtxParameter<'_>) -> String {
    let pointer = if param.pointer.is_some() { " .ptr" } else { "" };
    match param.length {
        Some(length) => {
            let align = param.align.map_or_else(String::new, |align| format!(".align {align} "));
            format!("`{align}{}[{length}]`, such as `{}`", param.ty, suggested(param))
        }
        None => format!("`{}{pointer}`", param.ty),
    }
}

/// A declaration of a kernel's parameters, as far as the file says it.
pub(super) fn suggestion(there: &[PtxParameter<'_>]) -> String {
    let each = there.iter().map(|param| format!("\"{}: {}\"", param.name, suggested(param)));
    each.collect::<Vec<_>>().join(", ")
}

fn suggested(param: &PtxParameter<'_>) -> String {
    let (bytes, is_float) = width(param.ty).unwrap_or((8, None));
    if let Some(length) = param.length {
        let unit = param.align.unwrap_or(bytes).clamp(1, 8);
        return format!("[u{}; {}]", unit * 8, length.saturating_mul(bytes) / unit);
    }
    match number(param.ty) {
        Some(scalar) => scalar.name().to_owned(),
        None if bytes == 8 => "*mut f32".to_owned(),
        None if is_float == Some(true) => "half::f16".to_owned(),
        None if bytes == 4 => "f32".to_owned(),
        None => format!("u{}", bytes * 8),
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
