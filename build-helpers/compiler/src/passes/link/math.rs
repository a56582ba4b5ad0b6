//! The device crate's math library: every call of a mathematical function goes to it, whether it is
//! written as `f32::sin`, as `Float::sin` or as `libm`'s.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, ModuleExt, Opcode, Type, Value},
};

use crate::base::names::MATH_PREFIX;

/// Intrinsics of LLVM, and our name for the function.
const INTRINSICS: &[(&str, &str)] = &[
    ("sin", "sin"),
    ("cos", "cos"),
    ("tan", "tan"),
    ("asin", "asin"),
    ("acos", "acos"),
    ("atan", "atan"),
    ("atan2", "atan2"),
    ("sinh", "sinh"),
    ("cosh", "cosh"),
    ("tanh", "tanh"),
    ("exp", "exp"),
    ("exp2", "exp2"),
    ("log", "ln"),
    ("log2", "log2"),
    ("log10", "log10"),
    ("pow", "powf"),
];

/// Functions of C's library that are no intrinsics, and our name.
const LIBRARY: &[(&str, &str)] =
    &[("expm1", "exp_m1"), ("log1p", "ln_1p"), ("cbrt", "cbrt"), ("hypot", "hypot")];

/// Replaces the functions, and applies workarounds for LLVM's GPU back ends: they compute remainders with
/// a rounded quotient ([llvm-project#224141] for NVPTX, [llvm-project#130988] for AMDGPU), and cannot
/// select conversions between floating-point numbers and 128-bit integers.
///
/// [llvm-project#224141]: https://github.com/llvm/llvm-project/pull/224141
/// [llvm-project#130988]: https://github.com/llvm/llvm-project/pull/130988
pub(super) fn replace<'c>(context: &'c Context, module: &Module<'c>, gpu: bool) {
    for function in module.functions() {
        if function.is_declaration() && function.is_used() {
            if let Some(name) = ours(&function.name()) {
                let target = module.declare(&name, function.value_type());
                redirect(function, target);
            } else if let Some(name) = power_by_integer(&function.name()) {
                let target = module.declare(name, function.value_type());
                redirect(function, target);
            }
        }
    }
    if gpu {
        for function in module.definitions() {
            if !function.name().starts_with("__fix") && !function.name().starts_with("__float") {
                convert_wide_integers(context, module, function);
                call_for_remainders(context, module, function);
            }
        }
    }
}

/// Makes the calls of one function call another of the same type.
fn redirect<'c>(from: Value<'c>, to: Value<'c>) {
    if from != to {
        from.replace_with(to);
    }
}

/// Whether there is a function of ours for one of C's.
pub(super) fn provides(name: &str) -> bool {
    ours(name).is_some()
}

/// C's names of the functions.
pub(super) fn known() -> impl Iterator<Item = String> {
    let names = INTRINSICS.iter().chain(LIBRARY).map(|(theirs, _)| *theirs);
    names.flat_map(|name| [name.to_owned(), format!("{name}f")])
}

/// Our function for one of LLVM's or C's; `None` for all others.
pub(super) fn ours(name: &str) -> Option<String> {
    if let Some(rest) = name.strip_prefix("llvm.") {
        let (function, ty) = rest.split_once('.')?;
        let (_, ours) = INTRINSICS.iter().find(|(theirs, _)| *theirs == function)?;
        return matches!(ty, "f32" | "f64").then(|| format!("{MATH_PREFIX}{ours}_{ty}"));
    }
    let named = |function: &str| {
        let mut all = INTRINSICS.iter().chain(LIBRARY);
        all.find(|(theirs, _)| *theirs == function).map(|(_, ours)| *ours)
    };
    if let Some(ours) = named(name) {
        return Some(format!("{MATH_PREFIX}{ours}_f64"));
    }
    let ours = named(name.strip_suffix('f')?)?;
    Some(format!("{MATH_PREFIX}{ours}_f32"))
}

/// The function of `compiler_builtins` for `x.powi(n)`.
fn power_by_integer(name: &str) -> Option<&'static str> {
    match name {
        "llvm.powi.f32.i32" => Some("__powisf2"),
        "llvm.powi.f64.i32" => Some("__powidf2"),
        _ => None,
    }
}

/// Replaces remainders of floating-point numbers by calls of the device crate.
fn call_for_remainders<'c>(context: &'c Context, module: &Module<'c>, function: Value<'c>) {
    let builder = Builder::new(context);
    for instruction in function.instructions() {
        if instruction.opcode() != Opcode::FRem {
            continue;
        }
        let ty = instruction.ty();
        let is_single = ty == Type::float(context);
        let name = format!("{MATH_PREFIX}rem_{}", if is_single { "f32" } else { "f64" });
        let target = module.declare(&name, ty.function(&[ty, ty]));
        builder.before(instruction);
        let result = builder.call(target, &[instruction.operand(0), instruction.operand(1)]);
        instruction.replace_with(result);
        instruction.erase();
    }
}

/// Replaces conversions from and to `i128` and `u128` by calls of `compiler_builtins`.
fn convert_wide_integers<'c>(context: &'c Context, module: &Module<'c>, function: Value<'c>) {
    let builder = Builder::new(context);
    for instruction in function.instructions() {
        let Some(name) = conversion(context, instruction) else { continue };
        let operand = instruction.operand(0);
        let target = module.declare(&name, instruction.ty().function(&[operand.ty()]));
        builder.before(instruction);
        let result = builder.call(target, &[operand]);
        instruction.replace_with(result);
        instruction.erase();
    }
}

/// The function that does what this conversion does, where it is one of 128 bits.
fn conversion<'c>(context: &'c Context, instruction: Value<'c>) -> Option<String> {
    let saturating = |name: &str| {
        instruction.called_function().is_some_and(|callee| callee.name().starts_with(name))
    };
    let stem = match instruction.opcode() {
        Opcode::FPToSI => "__fix",
        Opcode::FPToUI => "__fixuns",
        Opcode::SIToFP => "__float",
        Opcode::UIToFP => "__floatun",
        Opcode::Call if saturating("llvm.fptosi.sat.i128") => "__fix",
        Opcode::Call if saturating("llvm.fptoui.sat.i128") => "__fixuns",
        _ => return None,
    };
    let (from, to) = (instruction.operand(0).ty(), instruction.ty());
    let letter = |ty: Type<'c>| if ty == Type::float(context) { 's' } else { 'd' };
    if to.is_int(128) {
        Some(format!("{stem}{}fti", letter(from)))
    } else if from.is_int(128) {
        Some(format!("{stem}ti{}f", letter(to)))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_function_is_one_function() {
        for name in ["llvm.log.f32", "logf"] {
            assert_eq!(ours(name).as_deref(), Some("__kernelmill_math_ln_f32"), "{name}");
        }
        for name in ["llvm.pow.f64", "pow"] {
            assert_eq!(ours(name).as_deref(), Some("__kernelmill_math_powf_f64"), "{name}");
        }
        assert_eq!(ours("expm1f").as_deref(), Some("__kernelmill_math_exp_m1_f32"));
        for name in ["llvm.sqrt.f32", "llvm.sin.v4f32", "sinful", "memcpy", "f"] {
            assert_eq!(ours(name), None, "{name}");
        }
    }
}
