//! Shifts by as many bits as a number has, or more.
//!
//! Needs: modules with all functions of their kernels. Guarantees: a shift by an amount that is not known gives what
//! NVIDIA's devices give: zero, or the sign of a signed number that is shifted to the right.
//!
//! C++ leaves such a shift undefined, and CUDA programs rely on what `shl` and `shr` of PTX do
//! (<https://docs.nvidia.com/cuda/parallel-thread-execution/#logic-and-shift-instructions-shl>). x86 and ARM take the
//! amount modulo the width in scalar code, and x86 not in vectors. OpenCL C and Rust take it modulo the width themselves,
//! so LLVM sees that it is small and takes the comparison out again.

use kernelmill_llvm::ir::{Builder, IntPredicate, ModuleExt, Opcode, Value};

use super::divisors::{bits, every};
use crate::passes::entry::Unit;

/// Gives every shift of a module a result; how many.
pub(super) fn limit(unit: &Unit<'_, '_>) -> u64 {
    let mut count = 0;
    for function in unit.module.definitions() {
        for instruction in function.instructions() {
            let is_shift =
                matches!(instruction.opcode(), Opcode::Shl | Opcode::LShr | Opcode::AShr);
            if is_shift && !instruction.operand(1).is_constant() {
                guard(unit, instruction);
                count += 1;
            }
        }
    }
    count
}

/// Compares the amount of a shift with the width of its number.
fn guard<'c>(unit: &Unit<'_, 'c>, shift: Value<'c>) {
    let builder = Builder::new(unit.context);
    builder.before(shift);
    let (ty, number) = (shift.ty(), shift.operand(0));
    let width = u64::from(bits(ty));
    let amount = builder.freeze(shift.operand(1));
    let is_small = builder.compare(IntPredicate::Ult, amount, every(ty, width));
    let result = match shift.opcode() {
        Opcode::AShr => {
            let amount = builder.select(is_small, amount, every(ty, width - 1));
            builder.binary(Opcode::AShr, number, amount)
        }
        opcode => builder.select(is_small, builder.binary(opcode, number, amount), every(ty, 0)),
    };
    shift.replace_with(result);
    shift.erase();
}
