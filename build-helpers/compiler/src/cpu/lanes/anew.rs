//! Addresses that depend on what a group has read in a row, computed anew for one lane: to read an
//! element once more takes the processor less than to take a vector of addresses apart.

use kernelmill_llvm::ir::{Opcode, Value};

use super::{form::Form, group::Group};
use crate::cpu::uniformity::is_pure_intrinsic;

/// So many operations at most are done for each lane.
const OPERATIONS: usize = 6;

impl<'c> Group<'_, 'c> {
    /// Whether the operand of an instruction can be computed for one lane, from an element that is read
    /// once more. All lanes must be there.
    pub(super) fn can_read_again(
        &mut self,
        block: usize,
        user: Value<'c>,
        operand: Value<'c>,
    ) -> bool {
        let (mut loads, mut operations, mut work) = (0, 0, vec![operand]);
        while let Some(value) = work.pop() {
            if self.is_known_in_lanes(block, value) {
                continue;
            }
            operations += 1;
            let is_here = self.plan.flow.number(value.block()) == block;
            if !is_here || operations > OPERATIONS {
                return false;
            }
            match value.opcode() {
                Opcode::Load if self.is_read_in_a_row(block, value, user) => loads += 1,
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
    pub(super) fn read_again(
        &mut self,
        block: usize,
        value: Value<'c>,
        lane: Value<'c>,
    ) -> Value<'c> {
        if self.is_known_in_lanes(block, value) {
            let form = self.read(value, block);
            return self.vectors.one(&self.builder, form, lane);
        }
        if value.opcode() == Opcode::Load {
            let address = self.read(value.operand(0), block);
            let address = self.vectors.one(&self.builder, address, lane);
            let load = self.builder.load(value.ty(), address);
            load.set_alignment(value.alignment());
            return load;
        }
        let operands: Vec<_> = value
            .operands()
            .into_iter()
            .map(|operand| Some(self.read_again(block, operand, lane)))
            .collect();
        self.copy_with(value, &operands)
    }

    /// Whether what a value is in a lane follows from the first lane.
    fn is_known_in_lanes(&mut self, block: usize, value: Value<'c>) -> bool {
        let is_form = |form: Form<'c>| form.first.is_some() && form.holds.is_none();
        !value.is_instruction() || is_form(self.read(value, block))
    }

    /// Whether a load reads elements in a row, which nothing has written to since when `user` comes.
    fn is_read_in_a_row(&mut self, block: usize, load: Value<'c>, user: Value<'c>) -> bool {
        let next = std::iter::successors(load.next_instruction(), |it| it.next_instruction());
        let writes = |it: Value<'c>| match it.opcode() {
            Opcode::Store | Opcode::AtomicRmw | Opcode::AtomicCmpXchg | Opcode::Fence => true,
            Opcode::Call => is_pure_intrinsic(it).is_none(),
            _ => false,
        };
        let (pointer, ty) = (load.operand(0), load.ty());
        let address = self.read(pointer, block);
        // What lanes before have changed in the block's own memory would be read.
        !load.is_exact_access()
            && !self.is_shared(pointer)
            && ty.int_width().is_some()
            && address.first.is_some()
            && address.holds.is_none()
            && address.step == (self.size)(ty) as i64
            && !next.take_while(|it| *it != user).any(writes)
    }
}
