//! The launch wrappers and structs, as the template takes them.

use super::{expr::Expr, interface::Struct};
use kernelmill_artifact::{
    Access, Dimension, Field, Parameter, ParameterKind, Safety, Scalar, Signature, StructLayout,
    ValueType,
};
use minijinja::{Value, context};

/// The longest array that has a `Default`.
const LONGEST_DEFAULT: u64 = 32;

/// One wrapper.
pub(super) fn method(index: usize, signature: &Signature) -> Value {
    let names = parameter_names(&signature.parameters);
    let parameters: Value = signature
        .parameters
        .iter()
        .zip(&names)
        .map(|(parameter, name)| {
            let (ty, hold, argument) = match &parameter.kind {
                ParameterKind::Value(ty) => (type_name(ty), "", "value"),
                ParameterKind::Slice { element, access } => {
                    (memory(element, *access), hold(*access), "slice")
                }
                ParameterKind::Pointer { element, access } => {
                    (memory(element, *access), hold(*access), "pointer")
                }
            };
            context! { name => name, ty => ty, hold => hold, argument => argument }
        })
        .collect();
    let launch = match signature.dimension {
        Dimension::One => "::kernelmill::Launch<1>",
        Dimension::Two => "::kernelmill::Launch<2>",
        Dimension::Three => "::kernelmill::Launch<3>",
        Dimension::Any => "impl ::core::convert::Into<::kernelmill::Launch<3>>",
    };
    context! {
        index => index,
        name => identifier(&signature.name),
        kernel => &signature.name,
        place => format!("{}:{}", signature.file, signature.line),
        signature => signature.to_string(),
        launch => launch,
        is_unsafe => signature.safety == Safety::Unsafe,
        parameters => parameters,
    }
}

/// One struct.
pub(super) fn structure(item: &Struct) -> Value {
    let layout = &item.layout;
    let is_tuple =
        layout.fields.iter().any(|field| field.name.starts_with(|c: char| c.is_ascii_digit()));
    let natural = layout.fields.iter().map(|field| field.ty.align()).max().unwrap_or(1);
    let fields = |fields: &[Field]| -> Value {
        let field = |field: &Field| {
            context! {
                name => identifier(&field.name),
                plain => &field.name,
                ty => type_name(&field.ty),
            }
        };
        fields.iter().map(field).collect()
    };
    let import = item.mapped_to.as_ref().map(|path| {
        let is_same = path.rsplit("::").next() == Some(&*layout.name);
        if is_same { path.clone() } else { format!("{path} as {}", layout.name) }
    });
    context! {
        name => identifier(&layout.name),
        plain => &layout.name,
        size => layout.size,
        check => layout_check(item, is_tuple),
        repr => if layout.align > natural { format!("C, align({})", layout.align) } else { "C".into() },
        default => layout_has_default(layout),
        is_tuple => is_tuple,
        fields => fields(&layout.fields),
        import => import.unwrap_or_default(),
    }
}

/// The macro call that checks a struct's layout and, for a generated one, lets it cross.
fn layout_check(item: &Struct, is_tuple: bool) -> String {
    let layout = &item.layout;
    let mut arguments = vec![
        Expr::atom(identifier(&layout.name)),
        Expr::atom(format!("size = {}", layout.size)),
        Expr::atom(format!("align = {}", layout.align)),
    ];
    if !is_tuple {
        let offset = |field: &Field| format!("{} = {}", identifier(&field.name), field.offset);
        arguments.extend(layout.fields.iter().map(|field| Expr::atom(offset(field))));
    }
    let name = if item.mapped_to.is_some() { "assert_layout" } else { "device_struct" };
    Expr::call(format!("::kernelmill::__codegen::{name}!"), arguments).print(0, 1)
}

/// The names of a wrapper's parameters: the kernel's, without leading underscores where that
/// keeps them apart, so that a parameter the kernel does not use is an ordinary one here.
fn parameter_names(parameters: &[Parameter]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (index, parameter) in parameters.iter().enumerate() {
        let short = parameter.name.trim_start_matches('_');
        let is_taken = |name: &str| {
            names.iter().any(|known| known == name)
                || parameters.iter().enumerate().any(|(at, it)| at != index && it.name == name)
        };
        let starts_well = short.starts_with(|c: char| !c.is_ascii_digit());
        let name = if starts_well && !is_taken(short) {
            identifier(short)
        } else {
            format!("argument_{index}")
        };
        names.push(name);
    }
    names
}

fn memory(element: &ValueType, access: Access) -> String {
    let bound = match access {
        Access::Read => "ReadSlice",
        Access::Write => "WriteSlice",
    };
    format!("impl ::kernelmill::{bound}<{}>", type_name(element))
}

fn hold(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
    }
}

/// The type on the host.
fn type_name(ty: &ValueType) -> String {
    match ty {
        ValueType::Scalar(scalar @ (Scalar::F16 | Scalar::Bf16)) => {
            format!("::kernelmill::__codegen::half::{}", scalar.name())
        }
        ValueType::Scalar(scalar) => scalar.name().to_owned(),
        ValueType::Enum(layout) => layout.scalar.name().to_owned(),
        ValueType::Struct(layout) => identifier(&layout.name),
        ValueType::Array(element, length) => format!("[{}; {length}]", type_name(element)),
    }
}

fn layout_has_default(layout: &StructLayout) -> bool {
    layout.fields.iter().all(|field| has_default(&field.ty))
}

fn has_default(ty: &ValueType) -> bool {
    match ty {
        ValueType::Scalar(_) => true,
        ValueType::Enum(_) => true,
        ValueType::Struct(layout) => layout_has_default(layout),
        ValueType::Array(element, length) => *length <= LONGEST_DEFAULT && has_default(element),
    }
}

/// A name as Rust writes it: words of the language become raw.
fn identifier(name: &str) -> String {
    const WORDS: [&str; 48] = [
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do",
        "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in",
        "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
        "return", "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe",
        "unsized", "use", "virtual", "where", "while", "yield",
    ];
    if WORDS.contains(&name) { format!("r#{name}") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_keep_their_names_where_they_can() {
        let names = |names: &[&'static str]| {
            let kind = ParameterKind::Value(ValueType::Scalar(Scalar::F32));
            let parameters: Vec<_> =
                names.iter().map(|name| Parameter::borrowed(name, kind.clone())).collect();
            parameter_names(&parameters)
        };
        assert_eq!(names(&["x", "_y", "__stream", "in"]), ["x", "y", "stream", "r#in"]);
        assert_eq!(names(&["x", "_x", "_1"]), ["x", "argument_1", "argument_2"]);
    }
}
