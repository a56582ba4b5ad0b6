//! Switches of which several cases lead to one block that chooses a value by where it comes from.
//!
//! `OpPhi` has one value for each block that leads there, where LLVM's phi has one for each case. The
//! [translator](https://github.com/KhronosGroup/SPIRV-LLVM-Translator) that most implementations read SPIR-V by, of version 15
//! at least, makes a phi of it that LLVM refuses. So these become branches.

use std::collections::HashSet;

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Opcode, Value},
    machine::Machine,
};

use crate::Error;

/// Makes branches of the switches of functions with such a one.
pub(super) fn lower(module: &Module<'_>, machine: &Machine) -> Result<(), Error> {
    for function in module.definitions() {
        if function.blocks().iter().filter_map(|it| it.terminator()).any(joins_cases) {
            machine.run_on_function(function, "lower-switch")?;
        }
    }
    Ok(())
}

/// Whether several cases of a switch lead to one block with a phi.
fn joins_cases(end: Value<'_>) -> bool {
    if end.opcode() != Opcode::Switch {
        return false;
    }
    let mut seen = HashSet::new();
    let successors = end.block().successors();
    successors.into_iter().any(|block| {
        let has_phi = block.instructions().first().is_some_and(|it| it.opcode() == Opcode::Phi);
        !seen.insert(block) && has_phi
    })
}
