//! Instructions of a block, each lowered by its kind: memory accesses, scalarised ones, arithmetic.

use kernelmill_llvm::ir::{Opcode, Value};

use super::{code::Mask, emitter::Emitter};
use crate::{
    ScalarReason,
    cpu::{
        context::is_barrier,
        instructions::{changes_memory, is_dropped, is_prefetch},
        uniformity::{Shape, is_pure_intrinsic},
    },
};

impl<'c> Emitter<'_, 'c> {
    /// Builds a block but for its end.
    pub(in crate::cpu::vectorize) fn instructions(
        &mut self,
        block: usize,
        mask: Mask<'c>,
    ) -> Result<(), ScalarReason> {
        self.values.cached.clear();
        self.rows.clear();
        self.exits.changed = false;
        let all = self.values.plan.flow.blocks[block].instructions();
        // All phis are read before any of them can be given a new value.
        for instruction in all {
            self.values.code.builder.take_line(instruction);
            if instruction.opcode() == Opcode::Phi {
                self.values.phi(instruction);
            } else if Some(instruction) != self.values.plan.flow.blocks[block].terminator()
                && instruction.opcode() != Opcode::Alloca
            {
                self.instruction(block, instruction, mask)?;
                self.exits.changed |= changes_memory(instruction);
                if instruction.opcode() == Opcode::Store || changes_memory(instruction) {
                    // What was read may be something else now.
                    self.rows.clear();
                }
            }
        }
        Ok(())
    }

    fn instruction(
        &mut self,
        block: usize,
        instruction: Value<'c>,
        mask: Mask<'c>,
    ) -> Result<(), ScalarReason> {
        let opcode = instruction.opcode();
        if is_barrier(instruction) || (instruction.is_call() && is_dropped(instruction)) {
            return Ok(());
        }
        if self.values.plan.speculated.contains(&instruction) {
            let widened =
                self.exits.check_speculated(&mut self.values, block, instruction, mask)?;
            self.values.write(instruction, widened);
            return Ok(());
        }
        if self.values.code.vectors.lanes == 1 {
            let widened = self.values.compute(block, instruction, mask)?;
            self.values.write(instruction, widened);
            return Ok(());
        }
        match (opcode, self.values.plan.shapes.shape(instruction)) {
            (Opcode::Fence, _) => {
                let _ = self.values.once(block, instruction);
            }
            (Opcode::Call, _) if is_prefetch(instruction) => {
                // Lanes in a row have their elements in one line of a cache, or two.
                let address = self.values.read(instruction.operand(0), block);
                if let Some(first) = address.first {
                    self.values.code.builder.copy(instruction).set_operand(0, first);
                }
            }
            (Opcode::Store, _) if !instruction.is_exact_access() => {
                self.store(block, instruction, mask);
            }
            (Opcode::Load, Shape::Varying) if !instruction.is_exact_access() => {
                let widened = self.load(block, instruction, mask);
                self.values.write(instruction, widened);
            }
            (Opcode::Call, _) if is_pure_intrinsic(instruction).is_none() => {
                self.scalarize(block, instruction, mask);
            }
            (Opcode::AtomicRmw, _) if self.reduce(block, instruction, mask) => {}
            (
                Opcode::Load | Opcode::Store | Opcode::AtomicRmw | Opcode::AtomicCmpXchg,
                Shape::Varying,
            )
            | (Opcode::Store, _) => self.scalarize(block, instruction, mask),
            _ => {
                let widened = self.values.compute(block, instruction, mask)?;
                let widened =
                    self.exits.without_wrap(&mut self.values, block, instruction, widened, mask);
                self.values.write(instruction, widened);
            }
        }
        Ok(())
    }
}
