//! Templates whose instances are kernels: what of them a name in compiled code says.

use super::{
    names::{self, NO_NAME},
    written,
};
use crate::{
    base::cpp_names::{Parts, demangle},
    frontend::generic::{
        Form, GenericArgument, GenericKernel, GenericParameter, Instance, Length, is_alike,
    },
};
use kernelmill_artifact::{Scalar, Signature, ValueType};

/// Whether a kernel is an instance of a template of this name, with or without its namespaces.
///
/// ```
/// use kernelmill_compiler::frontend::cuda::signature::is_instance_of;
/// let symbol = "_ZN7filters5scaleIfLi2EEEvT_Pf";
/// assert!(is_instance_of(symbol, "filters::scale"));
/// assert!(is_instance_of(symbol, "scale"));
/// assert!(!is_instance_of(symbol, "scale<float, 2>"));
/// assert!(!is_instance_of("_ZN7filters5scaleEPf", "scale"));
/// ```
#[must_use]
pub fn is_instance_of(symbol: &str, name: &str) -> bool {
    let Some((path, _)) = template(symbol) else { return false };
    let name = name.replace(' ', "");
    path == name || path.strip_suffix(&name).is_some_and(|before| before.ends_with("::"))
}

/// The template that a kernel is an instance of, with its namespaces.
#[must_use]
pub fn template_name(symbol: &str) -> Option<String> {
    Some(template(symbol)?.0)
}

/// The name of a template and its arguments.
fn template(symbol: &str) -> Option<(String, Vec<String>)> {
    let parts = Parts { return_type: false, parameters: false, literal_types: true };
    let qualified = demangle(symbol, parts)?;
    let mut path = names::path(&qualified);
    let (name, arguments) = path.pop()?.split_once('<')?;
    let arguments = arguments.trim_end().strip_suffix('>')?;
    let is_named = |part: &&str| *part != NO_NAME && !part.starts_with("_INTERNAL_");
    let path = path.into_iter().filter(is_named).chain([name]).collect::<Vec<_>>().join("::");
    let arguments = names::split(arguments, ",").into_iter();
    Some((path, arguments.map(|it| it.trim().to_owned()).collect()))
}

/// An argument of a template, and the type of a constant.
type Argument = (GenericArgument, Option<&'static str>);

/// What some kernels, which are instances of one template, have in common, for a wrapper that is generic as the template
/// is. `parameters` are the names of the template's parameters, where they are known.
///
/// `None` where one wrapper cannot have all of them: overloads, packs, arguments without a counterpart in Rust. An
/// instance whose arguments are those of another one in Rust is left out, as `long` and `long long` are.
#[must_use]
pub fn generic_kernel(parameters: &[String], kernels: &[&Signature]) -> Option<GenericKernel> {
    let first = kernels.first()?;
    let (path, _) = template(&first.symbol)?;
    let mut instances: Vec<(&Signature, Vec<Argument>)> = Vec::new();
    for kernel in kernels {
        let (of, arguments) = template(&kernel.symbol)?;
        let arguments = arguments.iter().map(|text| argument(text, kernel));
        let arguments = arguments.collect::<Option<Vec<_>>>()?;
        if of != path || !is_alike(first, kernel) {
            return None;
        }
        if !instances.iter().any(|(_, known)| *known == arguments) {
            instances.push((kernel, arguments));
        }
    }
    let of_first: Vec<_> = instances.first()?.1.iter().map(|(_, constant)| *constant).collect();
    let is_like_first = |(_, arguments): &(&Signature, Vec<Argument>)| {
        arguments.iter().map(|(_, constant)| *constant).eq(of_first.iter().copied())
    };
    if !instances.iter().all(is_like_first) {
        return None;
    }
    let name = |index: usize, constant: Option<&str>| {
        let known = parameters.get(index).filter(|_| parameters.len() == of_first.len());
        let letter = if constant.is_none() { 'T' } else { 'N' };
        known.cloned().unwrap_or_else(|| format!("{letter}{}", index + 1))
    };
    let generics = of_first.iter().enumerate().map(|(index, constant)| GenericParameter {
        name: name(index, *constant),
        constant: constant.map(str::to_owned),
    });
    let generics = generics.collect();
    let arguments: Vec<Vec<GenericArgument>> =
        instances.iter().map(|(_, all)| all.iter().map(|(it, _)| it.clone()).collect()).collect();
    let forms = (0..first.parameters.len()).map(|index| {
        let types = instances.iter().map(|(kernel, _)| kernel.parameters[index].kind.crossing());
        form(&types.collect::<Vec<_>>(), &arguments)
    });
    let forms = forms.collect();
    let kernels = instances.iter().map(|(kernel, _)| kernel.symbol.to_string());
    let instances = kernels.zip(arguments);
    Some(GenericKernel {
        name: path.rsplit("::").next().unwrap_or_default().to_owned(),
        file: first.file.to_string(),
        line: first.line,
        generics,
        forms,
        instances: instances.map(|(kernel, arguments)| Instance { kernel, arguments }).collect(),
    })
}

/// The type that a parameter has in each instance, in terms of the arguments of each.
fn form(types: &[&ValueType], arguments: &[Vec<GenericArgument>]) -> Form {
    let is_argument = |index: &usize| {
        types.iter().zip(arguments).all(
            |(ty, all)| matches!(all.get(*index), Some(GenericArgument::Type(it)) if it == *ty),
        )
    };
    let count = arguments.first().map_or(0, Vec::len);
    if let Some(index) = (0..count).find(is_argument) {
        return Form::Parameter(index);
    }
    if types.iter().all(|ty| *ty == types[0]) {
        return Form::Same;
    }
    let parts: Option<Vec<(&ValueType, u64)>> = types
        .iter()
        .map(|ty| match ty {
            ValueType::Array(element, length) => Some((&**element, *length)),
            _ => None,
        })
        .collect();
    // A constant of C++ is no `usize`, which a length would have to be.
    match parts {
        Some(parts) if parts.iter().all(|(_, length)| *length == parts[0].1) => {
            let elements: Vec<_> = parts.iter().map(|(element, _)| *element).collect();
            Form::Array(Box::new(form(&elements, arguments)), Length::Same(parts[0].1))
        }
        _ => Form::PerInstance,
    }
}

/// An argument as the host has it; `None` where Rust has none.
fn argument(text: &str, kernel: &Signature) -> Option<Argument> {
    if let Some(scalar) = scalar(text) {
        return Some((GenericArgument::Type(ValueType::Scalar(scalar)), None));
    }
    if let Some((value, ty)) = constant(text) {
        return Some((GenericArgument::Constant(value), Some(ty)));
    }
    let is_type = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && !text.ends_with(['*', '&', ')', ']'])
        && !text.contains(['{', '\'', '(', '*', '&', '['])
        && ![" const", " volatile"].iter().any(|end| text.ends_with(end));
    if !is_type {
        return None;
    }
    let name = written::type_identifier(names::path(text).pop()?);
    let ty = kernel.parameters().iter().find_map(|it| named(it.kind.crossing(), &name));
    let argument = ty.map_or_else(|| GenericArgument::Marker(name), GenericArgument::Type);
    Some((argument, None))
}

/// The type of this name in a type.
fn named(ty: &ValueType, name: &str) -> Option<ValueType> {
    match ty {
        ValueType::Scalar(_) | ValueType::Function(_) => None,
        ValueType::Array(element, _) => named(element, name),
        ValueType::Enum(layout) => (*layout.name == *name).then(|| ty.clone()),
        ValueType::Struct(layout) if *layout.name == *name => Some(ty.clone()),
        ValueType::Struct(layout) => layout.fields.iter().find_map(|it| named(&it.ty, name)),
    }
}

/// The number that Rust has for a type of C++, as compiled code names it.
fn scalar(name: &str) -> Option<Scalar> {
    Some(match name {
        "bool" => Scalar::Bool,
        "char" | "signed char" => Scalar::I8,
        "unsigned char" => Scalar::U8,
        "short" => Scalar::I16,
        "unsigned short" => Scalar::U16,
        "int" => Scalar::I32,
        "unsigned int" => Scalar::U32,
        "long" | "long long" => Scalar::I64,
        "unsigned long" | "unsigned long long" => Scalar::U64,
        "__int128" => Scalar::I128,
        "unsigned __int128" => Scalar::U128,
        "float" => Scalar::F32,
        "double" => Scalar::F64,
        "__half" | "_Float16" | "half" => Scalar::F16,
        "__nv_bfloat16" | "hip_bfloat16" | "__hip_bfloat16" | "__bf16" => Scalar::Bf16,
        _ => return None,
    })
}

/// A constant as Rust writes it, and its type: `4u`, `(char)97`, `true`, `(ns::Mode)1`, whose number is an `i32` where
/// it is one.
fn constant(text: &str) -> Option<(String, &'static str)> {
    if matches!(text, "true" | "false") {
        return Some((text.to_owned(), "bool"));
    }
    let (ty, number) = match text.strip_prefix('(').and_then(|rest| rest.rsplit_once(')')) {
        Some((ty, number)) => (Some(ty), number),
        None => (None, text),
    };
    let digits = number.trim_end_matches(['u', 'U', 'l', 'L']);
    let value: i128 = digits.parse().ok()?;
    let of_suffix = match number[digits.len()..].to_ascii_lowercase().as_str() {
        "" => Scalar::I32,
        "u" => Scalar::U32,
        "l" | "ll" => Scalar::I64,
        "ul" | "ull" | "lu" | "llu" => Scalar::U64,
        _ => return None,
    };
    let scalar = match ty {
        None => of_suffix,
        Some(ty) => match scalar(ty) {
            Some(Scalar::Bool) => return Some(((value != 0).to_string(), "bool")),
            Some(scalar) => scalar,
            None if i32::try_from(value).is_ok() => Scalar::I32,
            None => Scalar::I64,
        },
    };
    let name = match scalar {
        Scalar::I8 => "i8",
        Scalar::U8 => "u8",
        Scalar::I16 => "i16",
        Scalar::U16 => "u16",
        Scalar::I32 => "i32",
        Scalar::U32 => "u32",
        Scalar::I64 => "i64",
        Scalar::U64 => "u64",
        _ => return None,
    };
    Some((value.to_string(), name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernelmill_artifact::{
        Access, Dimension, LaunchLimits, Parameter, ParameterKind, Safety, StructLayout,
    };

    fn kernel(symbol: &str, parameters: Vec<(&str, ParameterKind)>) -> Signature {
        let parameter = |(name, kind): (&str, _)| Parameter { name: name.to_owned().into(), kind };
        Signature {
            name: "k".into(),
            symbol: symbol.to_owned().into(),
            dimension: Dimension::Any,
            safety: Safety::Unsafe,
            limits: LaunchLimits::NONE,
            parameters: parameters.into_iter().map(parameter).collect(),
            file: "kernels/a.cu".into(),
            line: 3,
        }
    }

    fn pointer(element: ValueType) -> ParameterKind {
        ParameterKind::Pointer { element, access: Access::Write }
    }

    const F32: ValueType = ValueType::Scalar(Scalar::F32);
    const F64: ValueType = ValueType::Scalar(Scalar::F64);
    const I32: ValueType = ValueType::Scalar(Scalar::I32);

    fn arguments(symbol: &str) -> Option<Vec<(String, Option<String>)>> {
        let kernel = kernel(symbol, Vec::new());
        let generic = generic_kernel(&[], &[&kernel])?;
        let shown = |(argument, of): (&GenericArgument, &GenericParameter)| {
            let text = match argument {
                GenericArgument::Type(ty) => format!("{ty:?}"),
                GenericArgument::Marker(name) => name.clone(),
                GenericArgument::Constant(value) => value.clone(),
            };
            (text, of.constant.clone())
        };
        Some(generic.instances[0].arguments.iter().zip(&generic.generics).map(shown).collect())
    }

    #[test]
    fn arguments_are_what_rust_has() {
        let constant = |value: &str, ty: &str| (value.to_owned(), Some(ty.to_owned()));
        let numbers = arguments("_Z1kILi16ELj4ELln3EEvv").unwrap();
        assert_eq!(numbers, [constant("16", "i32"), constant("4", "u32"), constant("-3", "i64")]);
        let others = arguments("_Z1kILb1ELc97ELh3ELN2ns4ModeE1EEvv").unwrap();
        assert_eq!(
            others,
            [
                constant("true", "bool"),
                constant("97", "i8"),
                constant("3", "u8"),
                constant("1", "i32")
            ]
        );
        let types = arguments("_Z1kIdxN2ns3AddE4PairIfLi2EEEvv").unwrap();
        let names: Vec<_> = types.into_iter().map(|(text, _)| text).collect();
        assert_eq!(names, ["Scalar(F64)", "Scalar(I64)", "Add", "Pair_float_2"]);
        assert_eq!(arguments("_Z1kI6__half13__nv_bfloat16Evv").unwrap()[1].0, "Scalar(Bf16)");
        for without in ["_Z1kIPfEvv", "_Z1kIKfEvv", "_Z1kIJEEvv", "_Z1kIXadL_Z1fvEEEvv", "_Z1kPf"] {
            assert_eq!(arguments(without), None, "{without}");
        }
    }

    #[test]
    fn parameters_are_those_of_the_template_where_they_differ() {
        let value = ParameterKind::Value;
        let parameters = |ty: ValueType, pair: ValueType| {
            let array = ValueType::Array(ty.clone().into(), 4);
            vec![
                ("a", value(ty.clone())),
                ("y", pointer(ty)),
                ("n", value(I32)),
                ("t", pointer(array)),
                ("p", value(pair)),
            ]
        };
        let layout = |name: &str| {
            let name = name.to_owned().into();
            ValueType::Struct(
                StructLayout { name, size: 4, align: 4, fields: Vec::new().into() }.into(),
            )
        };
        let one = kernel("_ZN2ns5scaleIfLi4EEEvT_", parameters(F32, layout("Pair_float")));
        let two = kernel("_ZN2ns5scaleIdLi4EEEvT_", parameters(F64, layout("Pair_double")));
        let names = ["T".to_owned(), "TILE".to_owned()];
        let generic = generic_kernel(&names, &[&one, &two, &one]).unwrap();
        assert_eq!((&*generic.name, generic.instances.len()), ("scale", 2));
        let parameters: Vec<_> = generic.generics.iter().map(|it| &*it.name).collect();
        assert_eq!(parameters, ["T", "TILE"]);
        let array = Form::Array(Box::new(Form::Parameter(0)), Length::Same(4));
        let of_t = Form::Parameter(0);
        assert_eq!(generic.forms, [of_t.clone(), of_t, Form::Same, array, Form::PerInstance]);
        let overload = kernel("_ZN2ns5scaleIfLi4EEEvT_i", vec![("a", value(F32))]);
        assert_eq!(generic_kernel(&names, &[&one, &overload]), None);
        let names_without: Vec<_> = generic_kernel(&names[..1], &[&one])
            .unwrap()
            .generics
            .into_iter()
            .map(|it| it.name)
            .collect();
        assert_eq!(names_without, ["T1", "N2"]);
    }
}
