//! Shadow pointers: for each pointer to memory with a shadow, the corresponding pointer into the shadow.
//!
//! The term is Enzyme's: <https://enzyme.mit.edu/getting_started/CallingConvention/>.

use std::collections::HashMap;

use kernelmill_llvm::ir::{Opcode, Type, Value};

use crate::{
    Activity, Mode, Request,
    analysis::{Analysis, Transfer, transfer},
    copier::{Copier, incoming},
    unit::Unit,
};

/// A function's copy, with the shadows of its pointers and of its parameters.
pub(crate) struct Shadows<'a, 'c> {
    pub(crate) unit: &'a Unit<'a, 'c>,
    pub(crate) analysis: &'a Analysis<'c>,
    pub(crate) copier: Copier<'c>,
    /// Shadow pointers, and tangents in forward mode.
    pub(crate) shadows: HashMap<Value<'c>, Value<'c>>,
    phis: Vec<Value<'c>>,
}

impl<'a, 'c> Shadows<'a, 'c> {
    /// Maps the parameters of a function to those of its derivative. The derivative's further
    /// parameters are returned.
    pub(crate) fn new(
        unit: &'a Unit<'a, 'c>,
        analysis: &'a Analysis<'c>,
        request: &Request,
        new: Value<'c>,
    ) -> (Self, Vec<Value<'c>>) {
        let mut copier = Copier::new(unit.context, analysis.function, new);
        let mut shadows = HashMap::new();
        let mut given = new.parameters().into_iter();
        for (value, activity) in analysis.function.parameters().iter().zip(&request.activities) {
            copier.values.extend(given.next().map(|given| (*value, given)));
            let has_shadow = *activity != Activity::Constant
                && (request.mode == Mode::Forward || *activity != Activity::Active);
            if has_shadow {
                shadows.extend(given.next().map(|given| (*value, given)));
            }
        }
        (Self { unit, analysis, copier, shadows, phis: Vec::new() }, given.collect())
    }

    /// The shadow of a pointer or, in forward mode, the tangent of a number: zero where it has none. A
    /// pointer without a shadow is its own; only null occurs so.
    pub(crate) fn of(&self, value: Value<'c>) -> Value<'c> {
        self.shadows.get(&value).copied().unwrap_or_else(|| {
            if value.ty().is_pointer() { self.copier.value(value) } else { value.ty().null() }
        })
    }

    pub(crate) fn is_shadowed(&self, pointer: Value<'c>) -> bool {
        self.analysis.activities.is_shadowed(&self.analysis.memory, pointer)
    }

    /// Whether an instruction is in a block from which the function can return.
    pub(crate) fn returns(&self, instruction: Value<'c>) -> bool {
        self.analysis.cfg.number_of(instruction).is_some()
    }

    /// Writes the shadow of an instruction that gives a pointer.
    pub(crate) fn pointer(&mut self, instruction: Value<'c>) {
        let builder = &self.copier.builder;
        let shadow = match instruction.opcode() {
            Opcode::Alloca => self.slot(instruction),
            Opcode::Phi => {
                self.phis.push(instruction);
                builder.phi(instruction.ty())
            }
            Opcode::Select => builder.select(
                self.copier.value(instruction.operand(0)),
                self.of(instruction.operand(1)),
                self.of(instruction.operand(2)),
            ),
            Opcode::Load => {
                let shadow = builder.load(instruction.ty(), self.of(instruction.operand(0)));
                shadow.set_alignment(instruction.alignment());
                shadow
            }
            Opcode::GetElementPtr | Opcode::AddrSpaceCast | Opcode::BitCast | Opcode::Freeze => {
                let shadow = builder.copy(self.copier.values[&instruction]);
                shadow.set_operand(0, self.of(instruction.operand(0)));
                shadow
            }
            _ => return,
        };
        self.shadows.insert(instruction, shadow);
    }

    /// The shadow of a stack slot, which is zero at first.
    fn slot(&self, alloca: Value<'c>) -> Value<'c> {
        let builder = &self.copier.builder;
        let shadow = builder.copy(alloca);
        let count = alloca.operand(0).as_u64().unwrap_or(1);
        let bytes = self.unit.machine.size_of(alloca.allocated_type()) * count;
        let bytes = Type::int(self.unit.context, 64).constant(bytes);
        builder.clear_bytes(self.unit.context, shadow, alloca.alignment(), bytes);
        shadow
    }

    /// A phi for the shadow of one, with incoming values when all are known.
    pub(crate) fn phi(&mut self, phi: Value<'c>) {
        let shadow = self.copier.builder.phi(phi.ty());
        self.phis.push(phi);
        self.shadows.insert(phi, shadow);
    }

    /// Repeats a copy in the shadow; a fill clears the shadow.
    pub(crate) fn transfer(&self, call: Value<'c>) {
        let copy = self.copier.builder.copy(self.copier.values[&call]);
        copy.set_operand(0, self.of(call.operand(0)));
        let from = call.operand(1);
        if transfer(call) == Some(Transfer::Fill) {
            copy.set_operand(1, from.ty().null());
        } else if self.is_shadowed(from) {
            copy.set_operand(1, self.of(from));
        } else {
            // Constants have zero as their shadow.
            copy.erase();
            let (at, bytes) = (self.of(call.operand(0)), self.copier.value(call.operand(2)));
            self.copier.builder.clear_bytes(self.unit.context, at, 1, bytes);
        }
    }

    /// Adds incoming values to the phis, of the function and of the shadows.
    pub(crate) fn finish_phis(&self) {
        self.copier.finish_phis();
        for phi in &self.phis {
            for (value, from) in incoming(*phi) {
                if let Some(&from) = self.copier.blocks.get(&from) {
                    self.shadows[phi].add_incoming(self.of(value), from);
                }
            }
        }
    }
}
