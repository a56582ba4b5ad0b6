//! Rules of instructions: the types, modifiers and operands that go together.
//!
//! What decodes and breaks a rule has a meaning here, and none to `ptxas`, which refuses it. So it is refused before
//! it is decoded. PTX ISA, "Instruction Set"; the rules are those of `ptxas` 13.5 where it takes more or less.

mod addresses;
mod convert;
mod form;
mod memory;
mod operands;
mod synchronisation;
mod types;

use super::function::Decoder;
use super::problem::Problem;
use crate::ptx::{Instruction, Type};
use form::Form;

impl<'a> Decoder<'_, 'a> {
    /// Refuses an instruction that `ptxas` refuses.
    pub(super) fn check_rules(&mut self, i: &Instruction<'a>) -> Result<(), Problem> {
        let types = i.modifiers.iter().filter_map(|word| Type::named(word));
        let form = Form {
            opcode: i.opcode,
            modifiers: &i.modifiers,
            types: types.collect(),
            version: self.context.version,
            capability: self.context.capability,
            specific: self.context.specific,
        };
        match form.opcode {
            "cvt" => convert::check(&form)?,
            "ld" | "ldu" | "st" => memory::check(&form, i.operands.len())?,
            "atom" | "red" => memory::check_atomic(&form, i.operands.len())?,
            _ => types::check(&form)?,
        }
        synchronisation::check(&form, &i.operands)?;
        self.check_operands(i, &form)?;
        self.check_addresses(i, &form)
    }
}
