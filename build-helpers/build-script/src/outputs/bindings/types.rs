//! The types in signatures, as the template takes them.

use super::{
    expr::Expr,
    model::{Enum, Interface, Struct},
    names::identifier,
};
use kernelmill_artifact::{Field, FunctionType, Scalar, Signature, StructLayout, ValueType};
use minijinja::{Value, context};

/// The longest array that has a `Default`.
const LONGEST_DEFAULT: u64 = 32;

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
    context! {
        name => identifier(&layout.name),
        plain => &layout.name,
        size => layout.size,
        check => layout_check(item, is_tuple),
        repr => if layout.align > natural { format!("C, align({})", layout.align) } else { "C".into() },
        default => layout_has_default(layout),
        is_tuple => is_tuple,
        fields => fields(&layout.fields),
        import => import(item.mapped_to.as_deref(), &layout.name),
    }
}

/// One enumeration.
pub(super) fn enumeration(item: &Enum) -> Value {
    let layout = &item.layout;
    let size = layout.scalar.size();
    let variants = layout.variants.iter().map(|variant| {
        context! {
            name => identifier(&variant.name),
            plain => &variant.name,
            value => variant.value.to_string(),
        }
    });
    let macro_name = if item.mapped_to.is_some() { "assert_layout" } else { "device_struct" };
    let name = identifier(&layout.name);
    context! {
        check => format!(
            "::kernelmill::__codegen::{macro_name}!({name}, size = {size}, align = {size})"
        ),
        name => name,
        plain => &layout.name,
        scalar => layout.scalar.name(),
        variants => variants.collect::<Value>(),
        import => import(item.mapped_to.as_deref(), &layout.name),
    }
}

/// What is imported for a type that the user has: nothing where it is generated.
fn import(mapped_to: Option<&str>, name: &str) -> String {
    match mapped_to {
        None => String::new(),
        Some(path) if path.rsplit("::").next() == Some(name) => path.to_owned(),
        Some(path) => format!("{path} as {name}"),
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

/// The type on the host.
pub(super) fn type_name(ty: &ValueType) -> String {
    match ty {
        ValueType::Scalar(scalar @ (Scalar::F16 | Scalar::Bf16)) => {
            format!("::kernelmill::__codegen::half::{}", scalar.name())
        }
        ValueType::Scalar(scalar) => scalar.name().to_owned(),
        ValueType::Struct(layout) => identifier(&layout.name),
        ValueType::Enum(layout) => identifier(&layout.name),
        ValueType::Array(element, length) => format!("[{}; {length}]", type_name(element)),
        ValueType::Function(ty) => format!("::kernelmill::DeviceFn<{}>", function_type(ty)),
    }
}

/// The type of a function on the host, of types there.
pub(super) fn function_type(ty: &FunctionType) -> String {
    let parameters: Vec<_> = ty.parameters.iter().map(type_name).collect();
    let result = ty.result.as_ref().map(|ty| format!(" -> {}", type_name(ty)));
    format!("fn({}){}", parameters.join(", "), result.unwrap_or_default())
}

/// Whether a type is, or has in it, a number in half precision.
fn has_half(ty: &ValueType) -> bool {
    match ty {
        ValueType::Scalar(scalar) => matches!(scalar, Scalar::F16 | Scalar::Bf16),
        ValueType::Enum(_) => false,
        ValueType::Function(ty) => ty.parameters.iter().chain(&ty.result).any(has_half),
        ValueType::Array(element, _) => has_half(element),
        ValueType::Struct(layout) => layout.fields.iter().any(|field| has_half(&field.ty)),
    }
}

/// What says which kernels need the run time's feature `half`; `None` where there are none.
pub(super) fn needs_half(interface: &Interface) -> Option<String> {
    let texts = interface.kernels.iter().filter_map(|kernel| has_halves(&kernel.signature));
    let texts: Vec<_> = texts.map(|text| Expr::text(&text)).collect();
    let is_none = texts.is_empty();
    let call = Expr::call("::kernelmill::__codegen::needs_half!", texts);
    (!is_none).then(|| call.print(0, 1))
}

/// Which parameters of a kernel have numbers in half precision.
fn has_halves(signature: &Signature) -> Option<String> {
    let names = signature.parameters().iter().filter(|it| has_half(it.kind.crossing()));
    let names: Vec<_> = names.map(|parameter| format!("`{}`", parameter.name)).collect();
    let what = if names.len() == 1 { "the parameter" } else { "the parameters" };
    let has = if names.len() == 1 { "has" } else { "have" };
    if names.is_empty() {
        return None;
    }
    Some(format!(
        "{}:{}: {what} {} of the kernel `{}` {has} numbers in half precision",
        signature.file,
        signature.line,
        names.join(", "),
        signature.name
    ))
}

fn layout_has_default(layout: &StructLayout) -> bool {
    layout.fields.iter().all(|field| has_default(&field.ty))
}

fn has_default(ty: &ValueType) -> bool {
    match ty {
        ValueType::Scalar(_) | ValueType::Enum(_) => true,
        ValueType::Function(_) => false,
        ValueType::Struct(layout) => layout_has_default(layout),
        ValueType::Array(element, length) => *length <= LONGEST_DEFAULT && has_default(element),
    }
}
