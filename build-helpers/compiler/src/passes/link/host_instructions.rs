//! Single instructions of the host in the inline assembly of crates, as LLVM's intrinsics.
//!
//! Kernels and what they depend on are compiled for the host ([ADR 2]), so a crate with inline assembly for the host has it in
//! kernels too. `libm`, which most crates without the standard library compute with, has square roots, fused
//! multiply-adds and roundings so (its `src/math/arch`). Each of these has one result by IEEE 754, so the intrinsic's is
//! the same; and on the CPU it is vectorised, which assembly is not.
//!
//! [ADR 2]: ../../../../../docs/src/adr/0002-rustc-in-place.md

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, ModuleExt, Type, Value},
};

use crate::ir::path;

/// An intrinsic of one type of number, and how many it takes.
type Intrinsic = (&'static str, usize);

const SQUARE_ROOT: Intrinsic = ("llvm.sqrt", 1);
const FUSED: Intrinsic = ("llvm.fma", 3);
const ROUNDED: Intrinsic = ("llvm.roundeven", 1);

/// Instructions whose operands are registers, the first the result and the first argument.
const INSTRUCTIONS: &[(&str, Intrinsic)] = &[
    ("sqrtss", SQUARE_ROOT),
    ("sqrtsd", SQUARE_ROOT),
    ("vfmadd213ss", FUSED),
    ("vfmadd213sd", FUSED),
    ("fsqrt", SQUARE_ROOT),
    ("fmadd", FUSED),
    ("frintn", ROUNDED),
];

/// Functions that ask the processor which instructions it has, and use one.
const FUNCTIONS: &[(&str, Intrinsic)] =
    &[("libm::math::arch::x86::fma::fma", FUSED), ("libm::math::arch::x86::fma::fmaf", FUSED)];

/// Replaces the instructions and functions wherever they are called.
pub(super) fn replace<'c>(context: &'c Context, module: &Module<'c>) {
    for function in module.functions() {
        if let Some(intrinsic) = of_function(function) {
            let calls = function.users().into_iter();
            let calls: Vec<_> = calls.filter(|it| it.callee() == Some(function)).collect();
            calls.into_iter().for_each(|call| become_intrinsic(context, module, call, intrinsic));
        }
    }
    for function in module.definitions() {
        for call in function.calls() {
            if let Some(intrinsic) = call.inline_assembly().and_then(|text| of_text(&text)) {
                become_intrinsic(context, module, call, intrinsic);
            }
        }
    }
}

fn of_function(function: Value<'_>) -> Option<Intrinsic> {
    let name = function.name();
    let may_be = name.contains("libm") && name.contains("fma") && name.contains("arch");
    let path = may_be.then(|| path(function))?;
    FUNCTIONS.iter().find(|(function, _)| *function == path).map(|(_, intrinsic)| *intrinsic)
}

/// The intrinsic for assembly of one instruction.
fn of_text(text: &str) -> Option<Intrinsic> {
    let text = text.trim();
    let (name, operands) = text.split_once(char::is_whitespace)?;
    let is_one = !operands.contains(['\n', ';', '[', '(', '*']);
    let found = INSTRUCTIONS.iter().find(|(instruction, _)| *instruction == name);
    found.filter(|_| is_one).map(|(_, intrinsic)| *intrinsic)
}

/// Replaces a call by that of an intrinsic, where its arguments and its result are numbers of one type.
fn become_intrinsic<'c>(
    context: &'c Context,
    module: &Module<'c>,
    call: Value<'c>,
    (name, count): Intrinsic,
) {
    let (ty, arguments) = (call.ty(), call.arguments());
    let is_number = [Type::float(context), Type::double(context)].contains(&ty);
    if !is_number || arguments.len() != count || arguments.iter().any(|it| it.ty() != ty) {
        return;
    }
    let builder = Builder::new(context);
    builder.before(call);
    let value = builder.call(module.intrinsic(name, &[ty]), &arguments);
    call.replace_with(value);
    call.erase();
}
