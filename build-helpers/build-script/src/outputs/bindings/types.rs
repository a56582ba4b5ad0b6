//! The types in signatures: their items in the bindings, and their names.

use super::{
    comments::{Documentation, LINKS, commented},
    expr::Expr,
    model::{Enum, Interface, Struct},
    names::identifier,
};
use kernelmill_artifact::{
    EnumLayout, Field, FunctionType, Safety, Scalar, Signature, StructLayout, ValueType, Variant,
};

/// The indentation of items in an `impl`.
const STEP: usize = 4;

/// The longest array that has a `Default`.
const LONGEST_DEFAULT: u64 = 32;

/// One struct: the user's own, or one with the same layout.
pub(super) fn structure(item: &Struct) -> String {
    let layout = &item.layout;
    let is_tuple =
        layout.fields.iter().any(|field| field.name.starts_with(|c: char| c.is_ascii_digit()));
    let check = layout_check(item, is_tuple);
    if let Some(path) = &item.mapped_to {
        let name = identifier(&layout.name);
        let crossing = match item.is_of_module {
            true => of_module(layout.zero_is_value(), &name),
            false => zeros_check(layout.zero_is_value(), &name),
        };
        return import(path, &layout.name, &(check + &crossing));
    }
    let (plain, size) = (&layout.name, layout.size);
    let natural = layout.fields.iter().map(|field| field.ty.align()).max().unwrap_or(1);
    let align = match layout.align {
        align if align > natural => format!(", align({align})"),
        _ => String::new(),
    };
    let default = if layout_has_default(layout) { "Default, " } else { "" };
    let (body, constructor) = (fields(item, is_tuple), constructor(layout, is_tuple));
    let documentation = whole(
        &item.documentation,
        &format!("`{plain}` of the kernels: {size} bytes, laid out as on every device."),
    );
    format!(
        "
{documentation}#[derive(Clone, Copy, Debug, {default}PartialEq)]
#[allow(
    dead_code,
    non_camel_case_types,
    non_snake_case,
    unreachable_pub,
    clippy::type_complexity,
    reason = \"named as in the kernels, and used or not\"
)]
#[repr(C{align})]
pub struct {name}{body}
{constructor}{check};
",
        name = identifier(&layout.name),
    )
}

/// The lines above a generated type: what its source says of it, and then what the wrappers do.
fn whole(documentation: &Documentation, always: &str) -> String {
    let text = match documentation.whole.as_str() {
        "" => always.to_owned(),
        own => format!("{own}\n\n{always}"),
    };
    let allowed = if documentation.is_empty() { "" } else { LINKS };
    let lines = commented(&text) + allowed;
    let outer = |line: &str| line.strip_prefix("    ").unwrap_or(line).to_owned() + "\n";
    lines.lines().map(outer).collect()
}

/// The lines above a part of a generated type: what its source says of it, or else this.
fn part(own: &str, otherwise: &str) -> String {
    commented(if own.is_empty() { otherwise } else { own })
}

/// What stands after the name of a generated struct.
fn fields(item: &Struct, is_tuple: bool) -> String {
    let Struct { layout, documentation, .. } = item;
    if layout.fields.is_empty() {
        return "(\n    /// The byte that C++ gives an empty struct.\n    u8,\n);".to_owned();
    }
    let field = |(index, field): (usize, &Field)| {
        let (plain, ty) = (&field.name, type_name(&field.ty));
        let visibility = if field.public { "pub " } else { "" };
        let own = documentation.part(index);
        if is_tuple {
            let said = part(own, &format!("Field {plain} of the kernels' struct."));
            return format!("{said}    {visibility}{ty},\n");
        }
        let (name, said) =
            (identifier(plain), part(own, &format!("`{plain}` of the kernels' struct.")));
        format!("{said}    {visibility}{name}: {ty},\n")
    };
    let fields: String = layout.fields.iter().enumerate().map(field).collect();
    if is_tuple { format!("(\n{fields});") } else { format!(" {{\n{fields}}}") }
}

/// The constructor of a generated struct with private fields; nothing for other structs.
fn constructor(layout: &StructLayout, is_tuple: bool) -> String {
    if layout.fields.iter().all(|field| field.public) {
        return String::new();
    }
    let name = |field: &Field| match is_tuple {
        true => format!("field_{}", field.name),
        false => identifier(&field.name),
    };
    let names: Vec<_> = layout.fields.iter().map(name).collect();
    let typed = names.iter().zip(layout.fields.iter());
    let parameters =
        typed.map(|(name, field)| Expr::atom(format!("{name}: {}", type_name(&field.ty))));
    let head =
        Expr::call("pub const unsafe fn new", parameters.collect::<Vec<_>>()).print(STEP, STEP);
    let names = names.join(", ");
    let value = if is_tuple { format!("({names})") } else { format!(" {{ {names} }}") };
    let (plain, name) = (&layout.name, identifier(&layout.name));
    format!(
        "
#[allow(
    dead_code,
    non_snake_case,
    unreachable_pub,
    clippy::too_many_arguments,
    reason = \"as the kernels' struct is, and used or not\"
)]
impl {name} {{
    /// A value with these fields.
    ///
    /// # Safety
    ///
    /// It is one that the code of the kernels' `{plain}` makes: some of its fields are private there.
    #[must_use]
    {head} -> Self {{
        Self{value}
    }}
}}
"
    )
}

/// One enumeration: the user's own, an `enum`, or for C++ a number with constants for its values.
pub(super) fn enumeration(item: &Enum) -> String {
    let layout = &item.layout;
    let size = layout.scalar.size();
    let name = identifier(&layout.name);
    let layout_of = |macro_name: &str, private: &str| {
        let text = "::kernelmill::__codegen";
        format!("{text}::{macro_name}!({private}{name}, size = {size}, align = {size})")
    };
    if let Some(path) = &item.mapped_to {
        let check = layout_of("assert_layout", "");
        let check = match layout.exhaustive {
            true => {
                let crossing = match item.is_of_module {
                    true => of_module(layout.zero_is_value(), &name),
                    false => zeros_check(layout.zero_is_value(), &name),
                };
                check + &variants_check(layout, &name) + &crossing
            }
            false => check + &number_check(layout, &name),
        };
        return import(path, &layout.name, &check);
    }
    let private = if layout.zero_is_value() { "" } else { "private " };
    let check = layout_of("device_struct", private);
    if layout.exhaustive {
        return exhaustive(item, &name, &check);
    }
    let (plain, scalar) = (&layout.name, layout.scalar.name());
    let constants = constants(item, &name);
    let documentation = whole(
        &item.documentation,
        &format!(
            "`{plain}` of the kernels: a number, and constants for the values that have names."
        ),
    );
    format!(
        "
{documentation}#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(
    dead_code,
    non_camel_case_types,
    unreachable_pub,
    reason = \"named as in the kernels, and used or not\"
)]
#[repr(transparent)]
pub struct {name}(
    /// The number.
    pub {scalar},
);
{constants}{check};
"
    )
}

/// An enumeration of Rust, with the same variants.
fn exhaustive(item: &Enum, name: &str, check: &str) -> String {
    let Enum { layout, documentation, .. } = item;
    let (plain, scalar) = (&layout.name, layout.scalar.name());
    let variant = |(index, variant): (usize, &Variant)| {
        let (plain, value) = (&variant.name, &variant.value);
        let said = part(documentation.part(index), &format!("`{plain}` of the kernels' enum."));
        format!("{said}    {} = {value},\n", identifier(plain))
    };
    let variants: String = layout.variants.iter().enumerate().map(variant).collect();
    let documentation = whole(documentation, &format!("`{plain}` of the kernels."));
    format!(
        "
{documentation}#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(
    dead_code,
    non_camel_case_types,
    unreachable_pub,
    clippy::enum_variant_names,
    clippy::unreadable_literal,
    reason = \"named as in the kernels, and used or not\"
)]
#[repr({scalar})]
pub enum {name} {{
{variants}}}
{check};
"
    )
}

/// What compiles only where an enum of the user has just these variants, with these values.
fn variants_check(layout: &EnumLayout, name: &str) -> String {
    let names = layout.variants.iter().map(|variant| identifier(&variant.name));
    let names: Vec<_> = names.map(|variant| format!("{name}::{variant}")).collect();
    let values = layout.variants.iter().zip(&names).map(|(variant, name)| {
        let (plain, value) = (&variant.name, variant.value);
        format!(
            "    ::core::assert!(
        {name} as i128 == {value},
        \"`{plain}` of `{}` has another value in the kernels: {value}\"
    );\n",
            layout.name
        )
    });
    let values: String = values.collect();
    let all = names.join(" | ");
    format!(
        ";
#[allow(clippy::cast_lossless, clippy::unreadable_literal, reason = \"for an enum of any integer\")]
const _: () = {{
    // The kernels know these variants and no others.
    let _: fn({name}) = |value| match value {{
        {all} => {{}}
    }};
{values}}}"
    )
}

/// What lets a type of a module of kernels cross: its kernels were compiled with just this type.
fn of_module(zero_is_value: bool, name: &str) -> String {
    let nonzero = if zero_is_value { "" } else { "nonzero " };
    format!(";\n::kernelmill::device_copy!(unsafe {nonzero}{name})")
}

/// What compiles only where a type of the user, for a type of which zeros are no value in the kernels, says so.
fn zeros_check(zero_is_value: bool, name: &str) -> String {
    if zero_is_value {
        return String::new();
    }
    format!(";\n::kernelmill::__codegen::assert_no_zeros!({name})")
}

/// What compiles only where a type of the user is a struct of the number that an enumeration of C++ is there.
fn number_check(layout: &EnumLayout, name: &str) -> String {
    let scalar = layout.scalar.name();
    format!(
        ";
// In C++ it is any number, so here it is a struct with that: `struct {name}({scalar})`.
::kernelmill::__codegen::assert_number!({name}, {scalar})"
    )
}

/// The constants of a generated enumeration; nothing where it has none.
fn constants(item: &Enum, name: &str) -> String {
    let Enum { layout, documentation, .. } = item;
    let constant = |(index, variant): (usize, &Variant)| {
        let (plain, value) = (&variant.name, &variant.value);
        let name = identifier(plain);
        let said =
            part(documentation.part(index), &format!("`{plain}` of the kernels' enumeration."));
        format!(
            "{said}    pub const {name}: Self = Self({value});
"
        )
    };
    let constants: Vec<_> = layout.variants.iter().enumerate().map(constant).collect();
    if constants.is_empty() {
        return String::new();
    }
    let constants = constants.join("\n");
    format!(
        "
#[allow(
    dead_code,
    non_upper_case_globals,
    unreachable_pub,
    clippy::unreadable_literal,
    reason = \"named as in the kernels, and used or not\"
)]
impl {name} {{
{constants}}}
"
    )
}

/// A type that the user has, under its name in the kernels.
fn import(path: &str, name: &str, check: &str) -> String {
    format!("{}{check};\n", import_plain(path, name))
}

/// As [`import`], of a type of which there is nothing to check.
pub(super) fn import_plain(path: &str, name: &str) -> String {
    let renamed = match path.rsplit("::").next() {
        Some(last) if last == name => String::new(),
        _ => format!(" as {name}"),
    };
    format!(
        "
/// `{name}` of the kernels, as this package defines it.
#[allow(unreachable_pub, unused_imports, reason = \"used or not, as in the kernels\")]
pub use {path}{renamed};
"
    )
}

/// The macro call that checks a struct's layout and, for a generated one, lets it cross. Of the user's own
/// struct it checks the types of the fields too, and that none is where the kernels have padding.
fn layout_check(item: &Struct, is_tuple: bool) -> String {
    let layout = &item.layout;
    let is_own = item.mapped_to.is_none();
    let kind = match is_own {
        true if !layout.zero_is_value() => "private ",
        false if layout.fields.iter().map(|field| field.ty.size()).sum::<u64>() < layout.size => {
            "padded "
        }
        _ => "",
    };
    let mut arguments = vec![
        Expr::atom(format!("{kind}{}", identifier(&layout.name))),
        Expr::atom(format!("size = {}", layout.size)),
        Expr::atom(format!("align = {}", layout.align)),
    ];
    let field = |field: &Field| {
        let is_number = field.name.starts_with(|c: char| c.is_ascii_digit());
        let name = if is_number { field.name.to_string() } else { identifier(&field.name) };
        let ty = if is_own { String::new() } else { format!(": {}", type_name(&field.ty)) };
        Expr::atom(format!("{name}{ty} = {}", field.offset))
    };
    if !is_own || !is_tuple {
        arguments.extend(layout.fields.iter().map(field));
    }
    let name = if is_own { "device_struct" } else { "assert_layout" };
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
    let safety = match ty.safety {
        Safety::Safe => "",
        Safety::Unsafe => "unsafe ",
    };
    format!("{safety}fn({}){}", parameters.join(", "), result.unwrap_or_default())
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
    layout.fields.iter().all(|field| field.public && has_default(&field.ty))
}

fn has_default(ty: &ValueType) -> bool {
    match ty {
        ValueType::Scalar(_) => true,
        ValueType::Enum(layout) => !layout.exhaustive,
        ValueType::Function(_) => false,
        ValueType::Struct(layout) => layout_has_default(layout),
        ValueType::Array(element, length) => *length <= LONGEST_DEFAULT && has_default(element),
    }
}
