//! Addresses that depend on consecutive elements that a vector has just read, computed again for one lane:
//! to read an element once more takes the processor less than to extract an address from a vector.

use kernelmill_llvm::ir::{Opcode, Value};

use super::{super::layout::vector_value::VectorValue, values::Values};
use crate::cpu::uniformity::is_pure_intrinsic;

/// So many operations at most are done for each lane.
const OPERATIONS: usize = 6;

/// Computes values of one lane in a block.
pub(in crate::cpu::vectorize) struct Reread<'x, 'a, 'c> {
    pub(in crate::cpu::vectorize) values: &'x mut Values<'a, 'c>,
    pub(in crate::cpu::vectorize) block: usize,
}

impl<'c> Reread<'_, '_, 'c> {
    /// Whether the operand of an instruction can be computed for one lane, from an element that is read
    /// once more. All lanes must be there.
    pub(in crate::cpu::vectorize) fn can_read_again(
        &mut self,
        user: Value<'c>,
        operand: Value<'c>,
    ) -> bool {
        let (mut loads, mut operations, mut work) = (0, 0, vec![operand]);
        while let Some(value) = work.pop() {
            if self.is_known_in_lanes(value) {
                continue;
            }
            operations += 1;
            let is_here = self.values.plan.flow.number(value.block()) == self.block;
            if !is_here || operations > OPERATIONS {
                return false;
            }
            match value.opcode() {
                Opcode::Load if self.is_read_in_a_row(value, user) => loads += 1,
                Opcode::Add
                | Opcode::Sub
                | Opcode::Mul
                | Opcode::Shl
                | Opcode::LShr
                | Opcode::And
                | Opcode::Or
                | Opcode::Xor
                | Opcode::ZExt
                | Opcode::SExt
                | Opcode::Trunc
                | Opcode::GetElementPtr => work.extend(value.operands()),
                _ => return false,
            }
        }
        loads > 0
    }

    /// The value of such an operand in a lane.
    pub(in crate::cpu::vectorize) fn read_again(
        &mut self,
        value: Value<'c>,
        lane: Value<'c>,
    ) -> Value<'c> {
        if self.is_known_in_lanes(value) {
            let widened = self.values.read(value, self.block);
            return self.values.code.vectors.one(&self.values.code.builder, widened, lane);
        }
        if value.opcode() == Opcode::Load {
            let address = self.values.read(value.operand(0), self.block);
            let address = self.values.code.vectors.one(&self.values.code.builder, address, lane);
            let load = self.values.code.builder.load(value.ty(), address);
            load.set_alignment(value.alignment());
            return load;
        }
        let operands: Vec<_> = value
            .operands()
            .into_iter()
            .map(|operand| Some(self.read_again(operand, lane)))
            .collect();
        self.values.code.copy_with(value, &operands)
    }

    /// Whether what a value is in a lane follows from the first lane.
    fn is_known_in_lanes(&mut self, value: Value<'c>) -> bool {
        let is_uniform_or_strided =
            |widened: VectorValue<'c>| widened.first.is_some() && widened.holds.is_none();
        !value.is_instruction() || is_uniform_or_strided(self.values.read(value, self.block))
    }

    /// Whether a load reads elements in a row, which nothing has written to since when `user` comes.
    fn is_read_in_a_row(&mut self, load: Value<'c>, user: Value<'c>) -> bool {
        let next = std::iter::successors(load.next_instruction(), |it| it.next_instruction());
        let writes = |it: Value<'c>| match it.opcode() {
            Opcode::Store | Opcode::AtomicRmw | Opcode::AtomicCmpXchg | Opcode::Fence => true,
            Opcode::Call => is_pure_intrinsic(it).is_none(),
            _ => false,
        };
        let (pointer, ty) = (load.operand(0), load.ty());
        let address = self.values.read(pointer, self.block);
        // What lanes before have changed in the block's own memory would be read.
        !load.is_exact_access()
            && !self.values.code.is_shared(pointer)
            && ty.int_width().is_some()
            && address.first.is_some()
            && address.holds.is_none()
            && address.step == (self.values.code.size)(ty) as i64
            && !next.take_while(|it| *it != user).any(writes)
    }
}
