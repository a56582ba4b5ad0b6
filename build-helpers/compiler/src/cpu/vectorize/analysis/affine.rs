//! Affine values: numbers and addresses that are computed from quotients and remainders by a number that all lanes share, and
//! that grow by the same from lane to lane in most vectors, though only the launch knows by how much. After
//! [Collange, Defour and Zhang](https://doi.org/10.1007/978-3-642-14122-5_8), who find such vectors in the processor.
//!
//! `i / n` is one number in all lanes where no multiple of `n` lies between two of them, and grows as `i` does where `n` is 1;
//! `i % n` is the other way round. What is added up from them is affine too, and addresses of it are rows.
//!
//! Needs: the shapes of a plan. Guarantees: each block with affine values can be built twice, once for vectors in which they
//! are affine (`emission/affine.rs`) and once for any: all that is asked for the first is asked before the block
//! changes memory.

use std::collections::HashSet;

use kernelmill_llvm::ir::{Opcode, Value};

use crate::cpu::{
    instructions::changes_memory,
    uniformity::{Flow, Shape, Uniformity},
};

/// The affine values of a plan.
#[derive(Default)]
pub(in crate::cpu::vectorize) struct Affine<'c> {
    pub(in crate::cpu::vectorize) values: HashSet<Value<'c>>,
    /// The blocks that compute or use any.
    blocks: HashSet<usize>,
    /// Those of them in which it may have to be asked whether a value is affine.
    asking: HashSet<usize>,
}

impl<'c> Affine<'c> {
    /// Finds the affine values of a function, where any of them is an address; `is_private` holds of addresses whose elements
    /// lie lane by lane, `lanes` is the number of these, and `crossing` are the values that regions hand on, as vectors.
    pub(super) fn find(
        (flow, shapes): (&Flow<'c>, &Uniformity<'c>),
        is_private: &dyn Fn(Value<'c>) -> bool,
        lanes: u32,
        crossing: Vec<Value<'c>>,
    ) -> Self {
        let handed_on = handed_on(crossing);
        let search = Search { flow, shapes, is_private, lanes, handed_on };
        let mut values = search.candidates();
        let divisions = |values: &HashSet<Value<'c>>| -> Vec<_> {
            values.iter().copied().filter(|value| is_division(value.opcode())).collect()
        };
        if divisions(&values).is_empty() {
            return Self::default();
        }
        search.refuse(&mut values);
        let derived = closure(divisions(&values), |value| value.users(), &values);
        let values = closure(derived.into_iter().collect(), |value| value.operands(), &values);
        if !values.iter().any(|value| is_accessed(*value)) {
            return Self::default();
        }
        let users = values.iter().flat_map(|value| value.users());
        let users = users.filter(|user| user.opcode() != Opcode::Phi && !is_end(*user));
        let blocks = users.chain(values.iter().copied()).map(|it| flow.number(it.block()));
        let is_phi = |value: &&Value<'c>| value.opcode() == Opcode::Phi;
        let of_phis = values.iter().filter(is_phi).flat_map(|phi| phi.users());
        let asked = values.iter().copied().filter(|value| search.is_asked(*value));
        let asking = asked.chain(of_phis).map(|it| flow.number(it.block())).collect();
        Self { blocks: blocks.collect(), asking, values }
    }

    /// Whether a block computes or uses affine values.
    pub(in crate::cpu::vectorize) fn is_in(&self, block: usize) -> bool {
        self.blocks.contains(&block)
    }

    /// Whether it may have to be asked in a block whether a value is affine that others have computed to be so.
    pub(in crate::cpu::vectorize) fn is_asked_in(&self, block: usize) -> bool {
        self.asking.contains(&block)
    }
}

struct Search<'s, 'c> {
    flow: &'s Flow<'c>,
    shapes: &'s Uniformity<'c>,
    is_private: &'s dyn Fn(Value<'c>) -> bool,
    lanes: u32,
    /// What other regions get, and what that is computed from, as they may compute it again.
    handed_on: HashSet<Value<'c>>,
}

impl<'c> Search<'_, 'c> {
    /// The values that are affine if their operands are.
    fn candidates(&self) -> HashSet<Value<'c>> {
        let blocks = (0..self.flow.blocks.len()).filter(|node| !self.flow.panics[*node]);
        let mut found = HashSet::new();
        for block in blocks.map(|node| self.flow.blocks[node]) {
            let mut changed = false;
            for value in block.instructions() {
                changed |= changes_memory(value);
                let is_late = changed && self.is_asked(value);
                let is_own = !self.handed_on.contains(&value);
                let is_varying = self.shapes.shape(value) == Shape::Varying;
                if !is_late && is_own && is_varying && self.may_be(value) {
                    found.insert(value);
                }
            }
        }
        found
    }

    /// Whether it has to be asked if a value is affine where its operands are.
    fn is_asked(&self, value: Value<'c>) -> bool {
        let is_extension = matches!(value.opcode(), Opcode::SExt | Opcode::ZExt);
        is_division(value.opcode())
            || is_extension
            || value.operands().into_iter().any(|it| self.shapes.is_unsure(it))
    }

    fn may_be(&self, value: Value<'c>) -> bool {
        use Opcode::{
            Add, Freeze, GetElementPtr, Mul, Or, Phi, SExt, Select, Shl, Sub, Trunc, Xor, ZExt,
        };
        let ty = value.ty();
        let is_number = matches!(ty.int_width(), Some(32 | 64));
        let is_uniform = |index: u32| self.shapes.shape(value.operand(index)).is_uniform();
        match value.opcode() {
            GetElementPtr => {
                let operands = value.operands();
                let is_wide = operands.len() == 2 && operands[1].ty().is_int(64);
                ty.is_pointer() && is_wide && !(self.is_private)(value)
            }
            Freeze | Phi if ty.is_pointer() => value.opcode() == Freeze,
            _ if !is_number => false,
            opcode if is_division(opcode) => {
                // A quotient by a small constant is not the same in any vector.
                let constant = value.operand(1).as_u64();
                is_uniform(1) && constant.is_none_or(|by| by > u64::from(self.lanes))
            }
            Add | Sub | Freeze | Trunc => true,
            Or => value.is_disjoint(),
            Xor => is_complement(value),
            Mul => is_uniform(0) || is_uniform(1),
            Shl => value.operand(1).is_constant(),
            SExt | ZExt => value.operand(0).ty().is_int(32),
            Select => is_uniform(0),
            Phi => self.is_of_all_lanes(value),
            _ => false,
        }
    }

    /// Whether all lanes come to a phi together, and by the same way.
    fn is_of_all_lanes(&self, phi: Value<'c>) -> bool {
        let node = self.flow.number(phi.block());
        let count = phi.operands().len() as u32;
        self.shapes.is_reached_together(node)
            && (0..count).all(|index| {
                let Some(from) = phi.incoming_block(index) else { return false };
                let from = self.flow.number(from);
                self.shapes.is_reached_together(from)
                    && !self.shapes.divergent.contains(&from)
                    && !self.shapes.leaves_cycle(self.flow, phi.operand(index), node)
            })
    }

    /// Takes out the values that are computed from something else.
    fn refuse(&self, values: &mut HashSet<Value<'c>>) {
        let mut work: Vec<_> = values.iter().copied().collect();
        while let Some(value) = work.pop() {
            let is_affine = |of: Value<'c>| {
                of.is_block() || values.contains(&of) || self.shapes.shape(of) != Shape::Varying
            };
            if !value.operands().into_iter().all(is_affine) && values.remove(&value) {
                work.extend(value.users().into_iter().filter(|user| values.contains(user)));
            }
        }
    }
}

fn is_division(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::UDiv | Opcode::SDiv | Opcode::URem | Opcode::SRem)
}

/// Whether a number is `-1 - x`, as LLVM writes it.
pub(in crate::cpu::vectorize) fn is_complement(value: Value<'_>) -> bool {
    let all = value.ty().int_width().map(|bits| u64::MAX >> (64 - bits));
    value.opcode() == Opcode::Xor && value.operand(1).as_u64() == all
}

fn is_end(instruction: Value<'_>) -> bool {
    instruction.block().terminator() == Some(instruction)
}

/// Whether an access takes a value as its address.
fn is_accessed(value: Value<'_>) -> bool {
    value.users().into_iter().any(|user| match user.opcode() {
        Opcode::Load => true,
        Opcode::Store => user.operand(1) == value,
        _ => false,
    })
}

/// Some values and all that they are computed from.
fn handed_on(crossing: Vec<Value<'_>>) -> HashSet<Value<'_>> {
    let (mut found, mut work) = (HashSet::new(), crossing);
    while let Some(value) = work.pop() {
        if value.is_instruction() && found.insert(value) {
            work.extend(value.operands());
        }
    }
    found
}

/// What can be come to from some values by steps, within a set.
fn closure<'c>(
    start: Vec<Value<'c>>,
    next: impl Fn(Value<'c>) -> Vec<Value<'c>>,
    within: &HashSet<Value<'c>>,
) -> HashSet<Value<'c>> {
    let (mut found, mut work) = (HashSet::new(), start);
    while let Some(value) = work.pop() {
        if within.contains(&value) && found.insert(value) {
            work.extend(next(value));
        }
    }
    found
}
