//! Single instructions of the host in crates, as operations that every target has.
//!
//! Kernels and what they depend on are compiled for the host ([ADR 2]), so what a crate has for the host's processor is in
//! kernels too. `libm`, which most crates without the standard library compute with, has square roots, fused
//! multiply-adds and roundings in inline assembly (its `src/math/arch`); each has one result by IEEE 754. Crates for
//! large integers add and subtract with `core::arch`'s carries (`ark-ff`), and divide in inline assembly (`num-bigint`).
//! What is put in their place has the same results, and on the CPU it is vectorised, which these are not.
//!
//! [ADR 2]: ../../../../../docs/src/adr/0002-rustc-in-place.md

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, IntPredicate, Linkage, ModuleExt, Opcode, Type, Value},
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

/// Sums and differences of two numbers and a carry, with the carry that they leave; whether it is a difference.
const WITH_CARRY: &[(&str, bool)] = &[
    ("llvm.x86.addcarry.32", false),
    ("llvm.x86.addcarry.64", false),
    ("llvm.x86.subborrow.32", true),
    ("llvm.x86.subborrow.64", true),
];

/// The division of a number of two words by one, with the remainder.
const DIVISION: &str = "div ";

/// Functions that ask the processor which instructions it has, and use one.
const FUNCTIONS: &[(&str, Intrinsic)] =
    &[("libm::math::arch::x86::fma::fma", FUSED), ("libm::math::arch::x86::fma::fmaf", FUSED)];

/// Replaces the instructions and functions wherever they are called.
pub(crate) fn replace<'c>(context: &'c Context, module: &Module<'c>) {
    for function in module.functions() {
        if let Some(intrinsic) = of_function(function) {
            let calls = function.users().into_iter();
            let calls: Vec<_> = calls.filter(|it| it.callee() == Some(function)).collect();
            calls.into_iter().for_each(|call| become_intrinsic(context, module, call, intrinsic));
            // What nothing calls any more is dropped with what it calls, code for the host's processor.
            if !function.is_declaration() && !function.is_used() {
                function.set_linkage(Linkage::Internal);
            }
        }
    }
    for (name, is_difference) in WITH_CARRY {
        if let Some(function) = module.function(name) {
            let calls = function.users().into_iter();
            let calls: Vec<_> = calls.filter(|it| it.callee() == Some(function)).collect();
            calls.into_iter().for_each(|call| become_carry(context, call, *is_difference));
        }
    }
    for function in module.definitions() {
        for call in function.calls() {
            let Some(text) = call.inline_assembly() else { continue };
            if text.trim_start().starts_with(DIVISION) {
                become_division(context, call);
                continue;
            }
            if let Some(intrinsic) = of_text(&text) {
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

/// Replaces `fn(carry: u8, a: T, b: T) -> (u8, T)`: `a + b + carry`, or `a - b - carry`, and whether it does not fit.
fn become_carry<'c>(context: &'c Context, call: Value<'c>, is_difference: bool) {
    let [carry, a, b] = call.arguments()[..] else { return };
    let builder = Builder::new(context);
    builder.before(call);
    let opcode = if is_difference { Opcode::Sub } else { Opcode::Add };
    let is_carried = builder.compare(IntPredicate::Ne, carry, carry.ty().constant(0));
    let carried = builder.zero_extend(is_carried, a.ty());
    // A sum is less than its operands where it wrapped, a difference wraps where the first is less.
    let wraps = |result: Value<'c>, first: Value<'c>, second: Value<'c>| match is_difference {
        true => builder.compare(IntPredicate::Ult, first, second),
        false => builder.compare(IntPredicate::Ult, result, second),
    };
    let middle = builder.binary(opcode, a, b);
    let result = builder.binary(opcode, middle, carried);
    let (one, other) = (wraps(middle, a, b), wraps(result, middle, carried));
    let is_left = builder.binary(Opcode::Or, one, other);
    let is_left = builder.zero_extend(is_left, carry.ty());
    become_pair(&builder, call, [is_left, result]);
}

/// Replaces `fn(divisor: T, high: T, low: T) -> (T, T)`: the remainder and the quotient.
fn become_division<'c>(context: &'c Context, call: Value<'c>) {
    let [divisor, high, low] = call.arguments()[..] else { return };
    let ty = low.ty();
    let Some(bits @ (32 | 64)) = ty.int_width() else { return };
    if [divisor.ty(), high.ty()] != [ty; 2] || call.ty() != Type::structure(context, &[ty; 2]) {
        return;
    }
    let (builder, wide) = (Builder::new(context), Type::int(context, 2 * bits));
    builder.before(call);
    let high = builder.zero_extend(high, wide);
    let high = builder.binary(Opcode::Shl, high, wide.constant(u64::from(bits)));
    let low = builder.zero_extend(low, wide);
    let dividend = builder.binary(Opcode::Or, high, low);
    let divisor = builder.zero_extend(divisor, wide);
    let [remainder, quotient] = [Opcode::URem, Opcode::UDiv].map(|opcode| {
        let result = builder.binary(opcode, dividend, divisor);
        builder.truncate(result, ty)
    });
    become_pair(&builder, call, [remainder, quotient]);
}

/// Replaces a call by the fields of its result.
fn become_pair<'c>(builder: &Builder<'c>, call: Value<'c>, fields: [Value<'c>; 2]) {
    let numbered = fields.into_iter().zip(0..);
    let pair = numbered
        .fold(call.ty().poison(), |pair, (field, index)| builder.insert(pair, field, index));
    call.replace_with(pair);
    call.erase();
}
