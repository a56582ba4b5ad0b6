//! Declared parameters of kernels whose sources do not say them: `parameters = ["x: *const f32", "n: u32"]`.

use crate::base::naming::is_identifier;
use kernelmill_artifact::{Access, Parameter, ParameterKind, Scalar, ValueType, target::nearest};

/// What to write instead of what is no parameter.
pub(super) const HELP: &str = "write a name and a type: a scalar, `[T; N]` of scalars, `*const T` for memory that is read, or \
                    `*mut T`, for example \"x: *const f32\"";

/// Reads one parameter, or says everything that is wrong with it.
pub(super) fn parameter(text: &str) -> Result<Parameter, Vec<String>> {
    let wrong = |why: String| format!("`{text}` is not a valid parameter: {why}");
    let (name, ty) = text
        .split_once(':')
        .ok_or_else(|| vec![wrong("a `:` between name and type is missing".to_owned())])?;
    let name = name.trim();
    let mut faults = Vec::new();
    if !is_identifier(name) {
        faults.push(wrong(format!("`{name}` is not a valid name")));
    }
    let parsed = syn::parse_str(ty).map_err(|_| format!("`{}` is not a type", ty.trim()));
    match parsed.and_then(|ty| kind(&ty)) {
        Ok(kind) if faults.is_empty() => Ok(Parameter { name: name.to_owned().into(), kind }),
        Ok(_) => Err(faults),
        Err(why) => {
            faults.push(wrong(why));
            Err(faults)
        }
    }
}

/// What is wrong with the names of parameters: each that several have.
pub(super) fn check_names(parameters: &[Parameter]) -> Vec<String> {
    let mut faults = Vec::new();
    for (index, Parameter { name, .. }) in parameters.iter().enumerate() {
        let count =
            |parameters: &[Parameter]| parameters.iter().filter(|it| it.name == *name).count();
        if count(&parameters[..index]) == 1 {
            let all = count(parameters);
            let number = if all == 2 { "two".to_owned() } else { all.to_string() };
            faults.push(format!("{number} parameters are named `{name}`"));
        }
    }
    faults
}

fn kind(ty: &syn::Type) -> Result<ParameterKind, String> {
    let syn::Type::Ptr(pointer) = ty else { return value(ty).map(ParameterKind::Value) };
    let access = match pointer.mutability {
        syn::PointerMutability::Const(_) => Access::Read,
        syn::PointerMutability::Mut(_) => Access::Write,
    };
    Ok(ParameterKind::Pointer { element: value(&pointer.elem)?, access })
}

fn value(ty: &syn::Type) -> Result<ValueType, String> {
    match ty {
        syn::Type::Array(array) => {
            let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(length), .. }) = &array.len else {
                return Err("the length of an array must be a number".to_owned());
            };
            let length = length.base10_parse::<u64>().ok().filter(|length| *length > 0);
            let length = length.ok_or("an array must have at least one element")?;
            match value(&array.elem)? {
                scalar @ ValueType::Scalar(_) => Ok(ValueType::Array(scalar.into(), length)),
                _ => Err("the elements of an array must be scalars".to_owned()),
            }
        }
        syn::Type::Path(path) => {
            let name = path.path.segments.last().map(|last| last.ident.to_string());
            let name = name.unwrap_or_default();
            Scalar::from_name(&name).map(ValueType::Scalar).ok_or_else(|| {
                let known = Scalar::ALL.map(|scalar| scalar.name().to_owned());
                let near = nearest(&name, known).unwrap_or_default();
                format!("`{name}` is not a scalar type; the nearest is `{near}`")
            })
        }
        syn::Type::Ptr(_) => {
            Err("a pointer to pointers must be declared as a pointer to addresses, `*const u64`"
                .to_owned())
        }
        _ => Err("a parameter cannot be declared with this type".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_the_types_that_are_written() {
        for (text, expected) in [
            ("a: f32", "a: f32"),
            (" n:usize", "n: usize"),
            ("h: half::f16", "h: f16"),
            ("v: [f32; 4]", "v: [f32; 4]"),
            ("x: *const f32", "x: *const f32"),
            ("y: *mut [u64; 3]", "y: *mut [u64; 3]"),
        ] {
            let Parameter { name, kind } = parameter(text).unwrap();
            let ty = match &kind {
                ParameterKind::Pointer { element, access: Access::Read } => {
                    format!("*const {element}")
                }
                ParameterKind::Pointer { element, .. } => format!("*mut {element}"),
                other => other.crossing().to_string(),
            };
            assert_eq!(format!("{name}: {ty}"), expected);
        }
    }

    #[test]
    fn what_is_no_parameter_is_refused_with_the_reason() {
        for (text, reason) in [
            ("f32", "a `:` between name and type is missing"),
            ("2: f32", "`2` is not a valid name"),
            ("x: f33", "`f33` is not a scalar type; the nearest is `f32`"),
            (
                "x: *const *mut f32",
                "a pointer to pointers must be declared as a pointer to addresses, `*const u64`",
            ),
            ("x: [f32; 0]", "an array must have at least one element"),
            ("x: [f32; N]", "the length of an array must be a number"),
            ("x: &[f32]", "a parameter cannot be declared with this type"),
            ("x: [[f32; 2]; 2]", "the elements of an array must be scalars"),
            ("x: -", "`-` is not a type"),
        ] {
            let messages = parameter(text).unwrap_err();
            assert_eq!(messages, [format!("`{text}` is not a valid parameter: {reason}")]);
        }
        // The name and the type, and every name that there is twice.
        let reasons =
            ["`2` is not a valid name", "`f33` is not a scalar type; the nearest is `f32`"];
        let expected = reasons.map(|reason| format!("`2: f33` is not a valid parameter: {reason}"));
        assert_eq!(parameter("2: f33").unwrap_err(), expected);
        let texts = ["x: f32", "n: u8", "x: u8", "y: u8", "n: u8", "x: u8"];
        let parameters = texts.map(|text| parameter(text).unwrap());
        let expected = ["3 parameters are named `x`", "two parameters are named `n`"];
        assert_eq!(check_names(&parameters), expected);
        assert!(check_names(&parameters[..2]).is_empty());
    }
}
