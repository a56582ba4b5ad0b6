//! Divisors of integers that would end the program.
//!
//! Needs: modules with all functions of their kernels. Guarantees: no division of integers by a number that is not
//! known ends the program.
//!
//! A division by zero has an unspecified result in OpenCL C (6.3 of its specification) and on every GPU, and so has the
//! least number by -1. LLVM's instructions are undefined there, and x86 raises an exception, which ends the program, and
//! with it all other work of its host. Such a divisor becomes 1. LLVM takes that out again where it knows the divisor, as
//! behind the checks of Rust.

use kernelmill_llvm::ir::{Builder, IntPredicate, ModuleExt, Opcode, Type, Value};

use crate::passes::entry::Unit;

/// Makes every division of a module safe on processors that raise exceptions; how many.
pub(super) fn make_safe(unit: &Unit<'_, '_>, triple: &str) -> u64 {
    if !raises_exceptions(triple) {
        return 0;
    }
    let mut count = 0;
    for function in unit.module.definitions() {
        for instruction in function.instructions() {
            if let Some(is_signed) = signedness(instruction) {
                guard(unit, instruction, is_signed);
                count += 1;
            }
        }
    }
    count
}

/// Whether a division by zero is an exception of the processor. That of ARM gives zero.
fn raises_exceptions(triple: &str) -> bool {
    triple.starts_with("x86")
}

/// Whether an instruction divides signed integers; `None` where it divides none, or by a constant.
fn signedness(instruction: Value<'_>) -> Option<bool> {
    let is_signed = match instruction.opcode() {
        Opcode::UDiv | Opcode::URem => false,
        Opcode::SDiv | Opcode::SRem => true,
        _ => return None,
    };
    (!instruction.operand(1).is_constant()).then_some(is_signed)
}

/// Puts 1 in the place of a divisor that has no quotient.
fn guard<'c>(unit: &Unit<'_, 'c>, division: Value<'c>, is_signed: bool) {
    let builder = Builder::new(unit.context);
    builder.before(division);
    // What is compared has to be what is divided.
    let [left, divisor] = [0, 1].map(|it| builder.freeze(division.operand(it)));
    let (zero, one) = (every(division.ty(), 0), every(division.ty(), 1));
    let mut is_bad = builder.compare(IntPredicate::Eq, divisor, zero);
    if is_signed {
        let minus_one = builder.binary(Opcode::Sub, zero, one);
        let sign = every(division.ty(), u64::from(bits(division.ty())) - 1);
        let least = builder.binary(Opcode::Shl, one, sign);
        let overflows = builder.and(
            builder.compare(IntPredicate::Eq, divisor, minus_one),
            builder.compare(IntPredicate::Eq, left, least),
        );
        is_bad = builder.binary(Opcode::Or, is_bad, overflows);
    }
    let safe = builder.select(is_bad, one, divisor);
    let quotient = builder.binary(division.opcode(), left, safe);
    division.replace_with(quotient);
    division.erase();
}

/// A constant of an integer type, or of a vector of such.
pub(super) fn every(ty: Type<'_>, number: u64) -> Value<'_> {
    match ty.lanes() {
        Some(lanes) => Value::constant_vector(&vec![ty.element().constant(number); lanes as usize]),
        None => ty.constant(number),
    }
}

/// The width of an integer type, or of the integers of a vector.
pub(super) fn bits(ty: Type<'_>) -> u32 {
    let integer = if ty.lanes().is_some() { ty.element() } else { ty };
    integer.int_width().expect("only integers are divided")
}
