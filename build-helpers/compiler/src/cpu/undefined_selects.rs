//! Selects between a value and an undefined one, such as what `Option` leaves where there is none.
//!
//! Needs: simplified kernels. Guarantees: no select has an undefined operand, so strides are kept.

use kernelmill_llvm::ir::{Builder, Opcode, Value};

use crate::passes::entry::Unit;

/// Makes a choice between a value and an undefined one the value, so that threads that follow each other
/// still do where only some have one. It is frozen: a value may be poison where it was not chosen.
pub(super) fn choose(unit: &Unit<'_, '_>, kernel: Value<'_>) -> u64 {
    let mut count = 0;
    for instruction in kernel.instructions() {
        if instruction.opcode() != Opcode::Select {
            continue;
        }
        let (yes, no) = (instruction.operand(1), instruction.operand(2));
        let value = match (yes.is_undefined(), no.is_undefined()) {
            (true, false) => no,
            (false, true) => yes,
            _ => continue,
        };
        let builder = Builder::new(unit.context);
        builder.before(instruction);
        let value = if value.is_constant() { value } else { builder.freeze(value) };
        instruction.replace_with(value);
        instruction.erase();
        count += 1;
    }
    count
}
