//! One name for each type of C++ in the signatures of a program.
//!
//! Files know nothing of each other: two may have a struct `Params`, each its own. Such structs
//! are named after their files, `blur_Params` and `scale_Params`. Kernels in Rust are left alone:
//! their authors can rename a struct, which who uses somebody else's `.cu` file cannot.

use super::model::Kernel;
use kernelmill_artifact::{
    Dimension, EnumLayout, Field, Parameter, ParameterKind, Signature, StructLayout, ValueType,
};
use std::{collections::BTreeMap, path::Path};

/// The types of one name: each with the name of the file that has it, and its new name.
type Named = BTreeMap<String, Vec<(ValueType, String, String)>>;

/// Renames types where several have one name.
pub(super) fn resolve(kernels: &mut [Kernel]) {
    let mut named = Named::new();
    for Kernel { signature, .. } in kernels.iter() {
        if signature.dimension == Dimension::Any {
            let file = stem(signature);
            let types = signature.parameters().iter().map(|it| it.kind.crossing());
            types.for_each(|ty| collect(ty, &file, &mut named));
        }
    }
    named.retain(|_, types| types.len() > 1);
    for (name, types) in &mut named {
        for index in 0..types.len() {
            let wanted = format!("{}_{name}", types[index].1);
            let same = types[..index].iter().filter(|(_, file, _)| *file == types[index].1).count();
            let number = if same == 0 { String::new() } else { format!("_{}", same + 1) };
            types[index].2 = wanted + &number;
        }
    }
    if named.is_empty() {
        return;
    }
    for Kernel { signature, .. } in kernels.iter_mut() {
        if signature.dimension == Dimension::Any {
            let parameters =
                signature.parameters.iter().map(|parameter| renamed(parameter, &named));
            signature.parameters = parameters.collect();
        }
    }
}

/// What a kernel's file is called, as a part of a name.
fn stem(signature: &Signature) -> String {
    let stem = Path::new(&*signature.file).file_stem().unwrap_or_default().to_string_lossy();
    stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn collect(ty: &ValueType, file: &str, named: &mut Named) {
    let name = match ty {
        // Those that kernels in C++ take have no structs.
        ValueType::Scalar(_) | ValueType::Function(_) => return,
        ValueType::Array(element, _) => return collect(element, file, named),
        ValueType::Struct(layout) => {
            layout.fields.iter().for_each(|field| collect(&field.ty, file, named));
            &layout.name
        }
        ValueType::Enum(layout) => &layout.name,
    };
    let types = named.entry(name.to_string()).or_default();
    if !types.iter().any(|(known, ..)| agree_types(known, ty)) {
        types.push((ty.clone(), file.to_owned(), String::new()));
    }
}

fn renamed(parameter: &Parameter, named: &Named) -> Parameter {
    let kind = match &parameter.kind {
        ParameterKind::Value(ty) => ParameterKind::Value(rename(ty, named)),
        ParameterKind::Slice { element, access } => {
            ParameterKind::Slice { element: rename(element, named), access: *access }
        }
        ParameterKind::Pointer { element, access } => {
            ParameterKind::Pointer { element: rename(element, named), access: *access }
        }
        ParameterKind::Shared { element } => {
            ParameterKind::Shared { element: rename(element, named) }
        }
        // No kernel of C++ takes one.
        ParameterKind::TensorMap { .. } => parameter.kind.clone(),
    };
    Parameter { name: parameter.name.clone(), kind }
}

fn rename(ty: &ValueType, named: &Named) -> ValueType {
    let new_name = |name: &str| {
        let types = named.get(name)?;
        let (_, _, new) = types.iter().find(|(known, ..)| agree_types(known, ty))?;
        Some(new.clone().into())
    };
    match ty {
        ValueType::Scalar(_) | ValueType::Function(_) => ty.clone(),
        ValueType::Array(element, length) => {
            ValueType::Array(rename(element, named).into(), *length)
        }
        ValueType::Enum(layout) => {
            let name = new_name(&layout.name).unwrap_or_else(|| layout.name.clone());
            ValueType::Enum(EnumLayout { name, ..(**layout).clone() }.into())
        }
        ValueType::Struct(layout) => {
            let name = new_name(&layout.name).unwrap_or_else(|| layout.name.clone());
            let fields = layout.fields.iter().map(|field| {
                let mut field = field.clone();
                field.ty = rename(&field.ty, named);
                field
            });
            let fields = fields.collect();
            ValueType::Struct(StructLayout { name, fields, ..(**layout).clone() }.into())
        }
    }
}

/// Whether two layouts are of one struct. One compiler of C++ shows an alignment only where a
/// struct is passed by value, so the larger of two is the right one.
pub(super) fn agree(first: &StructLayout, second: &StructLayout) -> bool {
    let fields = |(first, second): (&Field, &Field)| {
        (&first.name, first.offset, first.public) == (&second.name, second.offset, second.public)
            && agree_types(&first.ty, &second.ty)
    };
    first.size == second.size
        && first.fields.len() == second.fields.len()
        && first.fields.iter().zip(second.fields.iter()).all(fields)
}

pub(super) fn agree_types(first: &ValueType, second: &ValueType) -> bool {
    match (first, second) {
        (ValueType::Struct(first), ValueType::Struct(second)) => {
            first.name == second.name && agree(first, second)
        }
        (ValueType::Array(first, length), ValueType::Array(second, other)) => {
            length == other && agree_types(first, second)
        }
        _ => first == second,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernelmill_artifact::{Field, LaunchLimits, Safety, Scalar};

    fn structure(name: &'static str, fields: &[(&'static str, ValueType)]) -> ValueType {
        let fields = fields.iter().map(|(name, ty)| Field {
            name: (*name).into(),
            ty: ty.clone(),
            offset: 0,
            public: true,
        });
        let fields = fields.collect();
        ValueType::Struct(StructLayout { name: name.into(), size: 4, align: 4, fields }.into())
    }

    fn kernel(file: &'static str, ty: ValueType) -> Kernel {
        let parameter = Parameter { name: "p".into(), kind: ParameterKind::Value(ty) };
        let signature = Signature {
            name: "k".into(),
            symbol: "k".into(),
            dimension: Dimension::Any,
            safety: Safety::Unsafe,
            limits: LaunchLimits::NONE,
            parameters: vec![parameter].into(),
            file: file.into(),
            line: 1,
        };
        Kernel { signature, sources: vec![0], contract: Vec::new(), comment: String::new() }
    }

    #[test]
    fn types_of_one_name_are_named_after_their_files() {
        let (float, int) = (ValueType::Scalar(Scalar::F32), ValueType::Scalar(Scalar::I32));
        let inner = structure("Params", &[("x", float.clone())]);
        let mut kernels = [
            kernel("kernels/a-b.cu", structure("Outer", &[("inner", inner.clone())])),
            kernel("kernels/a-b.cu", structure("Params", &[("x", int)])),
            kernel("kernels/c.cu", structure("Params", &[("y", float)])),
            kernel("kernels/d.cu", ValueType::Array(inner.into(), 2)),
        ];
        resolve(&mut kernels);
        let kinds: Vec<_> =
            kernels.iter().map(|it| it.signature.parameters[0].kind.to_string()).collect();
        assert_eq!(kinds, ["Outer", "a_b_Params_2", "c_Params", "[a_b_Params; 2]"]);
        let ParameterKind::Value(ValueType::Struct(outer)) =
            &kernels[0].signature.parameters[0].kind
        else {
            panic!("the first is a struct")
        };
        assert_eq!(outer.fields[0].ty.to_string(), "a_b_Params");
    }
}
