//! Whether rows of a block can be jammed, and how many of them should be.

use std::collections::HashSet;

use kernelmill_llvm::ir::{Opcode, TypeKind, Value};

use crate::cpu::{
    code_size,
    instructions::{is_dropped, is_harmless, phis, writes_panic},
    uniformity::{Flow, Loop, is_pure_intrinsic},
};

/// The instructions of a body at most, which has so many more for each row.
const INSTRUCTIONS: usize = 300;

/// The instructions that a condition is computed by at most, for each row before its first one.
const CONDITION: u32 = 24;

/// The most rows.
const ROWS: u32 = 4;

/// The sums of all rows at most, each of which has a register: AVX2 has 16.
const SUMS: u32 = 12;

/// What is known of a body.
pub(super) struct Analysis<'c> {
    function: Value<'c>,
    thread: [Value<'c>; 3],
    flow: Flow<'c>,
    /// What depends on the row.
    pub(super) dependent: HashSet<Value<'c>>,
}

impl<'c> Analysis<'c> {
    pub(super) fn new(function: Value<'c>, thread: [Value<'c>; 3]) -> Self {
        let flow = Flow::new(function, writes_panic);
        Self { function, thread, flow, dependent: dependent_on(thread[1]) }
    }

    /// The comparisons that decide branches and depend on the row; `None` where rows cannot be jammed.
    pub(super) fn agreed(&self) -> Option<Vec<Value<'c>>> {
        let mut agreed = Vec::new();
        for instruction in self.function.instructions() {
            let condition = match instruction.opcode() {
                Opcode::CondBr => instruction.branch_condition()?,
                _ if is_jammed(instruction) => continue,
                _ => return None,
            };
            if !self.comparisons(condition, &mut agreed) {
                return None;
            }
        }
        Some(agreed)
    }

    /// Finds the comparisons that depend on the row in a condition; `false` where there is anything else.
    fn comparisons(&self, condition: Value<'c>, found: &mut Vec<Value<'c>>) -> bool {
        if !self.dependent.contains(&condition) || found.contains(&condition) {
            return true;
        }
        match condition.opcode() {
            Opcode::ICmp if self.is_known_before(condition, &mut { CONDITION }) => {
                found.push(condition);
                true
            }
            Opcode::Select | Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Freeze => {
                condition.operands().into_iter().all(|operand| self.comparisons(operand, found))
            }
            _ => false,
        }
    }

    /// Whether a value can be computed before the first instruction of a row, alike for all its threads, by `left`
    /// instructions at most.
    fn is_known_before(&self, value: Value<'c>, left: &mut u32) -> bool {
        if !value.is_instruction() {
            return value != self.thread[0];
        }
        if *left == 0 || !is_harmless(value) {
            return false;
        }
        *left -= 1;
        value.operands().into_iter().all(|operand| self.is_known_before(operand, left))
    }

    /// How many rows should be jammed; `None` where it is not expected to pay.
    pub(super) fn rows(&self) -> Option<u32> {
        if self.dependent.is_empty() || code_size::instructions(self.function) > INSTRUCTIONS {
            return None;
        }
        let loops = &self.flow.loops;
        let is_inner = |found: &&Loop| {
            !loops.iter().any(|other| other != *found && found.nodes.contains(&other.header))
        };
        let pays = loops.iter().filter(is_inner).any(|found| self.pays(found));
        let sums = loops.iter().map(|found| self.sums(found)).max().unwrap_or(0);
        [ROWS, ROWS / 2].into_iter().find(|rows| pays && sums * rows <= SUMS)
    }

    /// Whether the iterations of a loop take less time for several rows together: they read something for all of them, or
    /// wait for a sum.
    fn pays(&self, found: &Loop) -> bool {
        let all = || found.nodes.iter().flat_map(|&node| self.flow.blocks[node].instructions());
        let is_of_row = |it: Value<'c>| self.dependent.contains(&it);
        let is_shared = |it: Value<'c>| it.opcode() == Opcode::Load && !is_of_row(it);
        let works = |it: Value<'c>| is_of_row(it) && (is_access_or_phi(it) || is_float(it));
        all().any(works) && (all().any(is_shared) || self.sums(found) > 0)
    }

    /// The floating-point numbers that a loop carries from iteration to iteration for each row.
    fn sums(&self, found: &Loop) -> u32 {
        let carried = phis(self.flow.blocks[found.header].instructions());
        carried.filter(|phi| is_float(*phi) && self.dependent.contains(phi)).count() as u32
    }
}

/// All that is computed from a value.
fn dependent_on<'c>(value: Value<'c>) -> HashSet<Value<'c>> {
    let (mut found, mut work) = (HashSet::new(), value.users());
    while let Some(user) = work.pop() {
        if found.insert(user) {
            work.extend(user.users());
        }
    }
    found
}

fn is_float(value: Value<'_>) -> bool {
    use TypeKind::{BFloat, Double, Float, Half};
    matches!(value.ty().kind(), Half | BFloat | Float | Double)
}

fn is_access_or_phi(instruction: Value<'_>) -> bool {
    matches!(instruction.opcode(), Opcode::Load | Opcode::Store | Opcode::Phi)
}

/// Whether an instruction that decides nothing does the same for a thread wherever those of other rows are.
fn is_jammed(instruction: Value<'_>) -> bool {
    use Opcode::*;
    match instruction.opcode() {
        Load | Store => !instruction.is_exact_access(),
        // What writes down a panic is a call too: a thread that panics ends by itself.
        Call => is_pure_intrinsic(instruction).is_some() || is_dropped(instruction),
        // Memory of a thread would have to be there for each row, and what others see is not counted.
        Alloca | AtomicRmw | AtomicCmpXchg | Fence => false,
        Invoke | CallBr | IndirectBr | Switch | Resume | LandingPad | Unreachable => false,
        _ => true,
    }
}
