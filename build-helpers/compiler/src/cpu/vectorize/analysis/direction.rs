//! The direction of vectors: whether neighbours along y access memory in rows where neighbours along x do not, as in
//! kernels whose rows are numbered by `threadIdx.x`.
//!
//! An estimate of the accesses decides, weighted by the depth of their loops, as that of LLVM's loop interchange
//! ([`LoopCacheAnalysis`](https://doi.org/10.1145/195473.195557)).

use kernelmill_llvm::ir::{Opcode, Type, Value};

use super::plan::Plan;
use crate::cpu::uniformity::Shape;

/// How often a loop is taken to run.
const ITERATIONS: u64 = 8;

/// Loops that are looked into: what is deeper counts as much.
const DEPTH: u32 = 6;

/// What an access costs whose lanes are all over memory, and what one costs to a row or to one element.
const SCATTERED: u64 = 12;
const TOGETHER: u64 = 1;

/// Whether vectors along the axis of `other` take less than half of the time that memory takes along that of `plan`.
pub(in crate::cpu::vectorize) fn is_better<'c>(
    other: &Plan<'c>,
    plan: &Plan<'c>,
    size: &dyn Fn(Type<'c>) -> u64,
) -> bool {
    2 * cost(other, size) < cost(plan, size)
}

/// What the accesses of a vector's threads to memory cost.
fn cost<'c>(plan: &Plan<'c>, size: &dyn Fn(Type<'c>) -> u64) -> u64 {
    let of_block = |(node, block): (usize, &kernelmill_llvm::ir::Block<'c>)| {
        if plan.flow.panics[node] {
            return 0;
        }
        let depth = plan.loops.iter().filter(|it| it.nodes.binary_search(&node).is_ok()).count();
        let times = ITERATIONS.pow(DEPTH.min(depth as u32));
        times * block.instructions().into_iter().map(|it| of_access(plan, it, size)).sum::<u64>()
    };
    plan.flow.blocks.iter().enumerate().map(of_block).sum()
}

fn of_access<'c>(plan: &Plan<'c>, access: Value<'c>, size: &dyn Fn(Type<'c>) -> u64) -> u64 {
    let (pointer, ty) = match access.opcode() {
        Opcode::Load => (access.operand(0), access.ty()),
        Opcode::Store => (access.operand(1), access.operand(0).ty()),
        Opcode::AtomicRmw | Opcode::AtomicCmpXchg => return SCATTERED,
        _ => return 0,
    };
    match plan.shapes.shape(pointer) {
        // What all lanes store to is stored to once for each of them.
        Shape::Strided(0) if access.opcode() == Opcode::Store => SCATTERED,
        Shape::Strided(0) => TOGETHER,
        Shape::Strided(step) if step == size(ty) as i64 => TOGETHER,
        Shape::Strided(_) | Shape::Varying => SCATTERED,
    }
}
