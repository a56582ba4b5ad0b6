//! The direction of vectors: neighbours along x, or neighbours along y. Both are built where either may be the better one,
//! and the size of a block decides when it runs.
//!
//! Along y is better where it accesses memory in rows and x does not, as in kernels whose rows are numbered by
//! `threadIdx.x`, and in blocks that are narrow along x, of 1 x 32 threads for example: vectors along x have a lane for
//! each of few threads there. An estimate of the instructions decides, weighted by the depth of their loops, as that of
//! LLVM's loop interchange ([`LoopCacheAnalysis`](https://doi.org/10.1145/195473.195557)).

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Builder, IntPredicate, Opcode, Type, Value},
};

use super::{plan::Plan, profitability::is_free};
use crate::cpu::{block_shape::BlockShape, code_size, uniformity::Shape};

/// How often a loop is taken to run.
const ITERATIONS: u64 = 8;

/// Loops that are looked into: what is deeper counts as much.
const DEPTH: u32 = 6;

/// What an access costs whose lanes are all over memory, and what one costs to a row or to one element.
const SCATTERED: u64 = 12;
const TOGETHER: u64 = 1;

/// What a scattered access costs against [`TOGETHER`] and [`OTHER`], where vectors along x are the other choice: a loop of
/// six instructions took 6 to 7 times as long with a gather as with a load of a row, of 8 elements as of 16.
const GATHERED: u64 = 32;

/// What any other instruction costs.
const OTHER: u64 = 1;

/// The blocks that are run in vectors along y.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cpu) struct AlongY {
    /// Those with a whole vector of threads along y, since these access memory in rows and those along x do not.
    pub(in crate::cpu) high: bool,
    /// Those with fewer threads along x than a vector has lanes, where vectors along y take less time all together: what
    /// one of them takes, as hundredths of what one along x takes.
    narrow: Option<u64>,
}

impl AlongY {
    pub(in crate::cpu) const NEVER: Self = Self { high: false, narrow: None };

    /// Whether blocks are among them since they are narrow along x.
    pub(in crate::cpu) fn narrow(self) -> bool {
        self.narrow.is_some()
    }

    /// Builds the bit that says whether a block of so many threads is one of them, where vectors along x and along y have
    /// so many `lanes`.
    ///
    /// The padded lines of one that is narrow have no more threads along y than along x.
    pub(in crate::cpu::vectorize) fn holds<'c>(
        self,
        context: &'c Context,
        builder: &Builder<'c>,
        lanes: [u32; 2],
        dims: [Value<'c>; 3],
    ) -> Value<'c> {
        let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
        let [width, height, _] = dims;
        let [along_x, lanes] = lanes;
        let high = builder.compare(IntPredicate::Uge, height, word.constant(u64::from(lanes)));
        let Some(percent) = self.narrow else { return high };
        let narrow = builder.compare(IntPredicate::Ult, width, word.constant(u64::from(along_x)));
        let [width, height] = [width, height].map(|size| builder.zero_extend(size, wide));
        let rounded = builder.add(height, wide.constant(u64::from(lanes - 1)));
        let vectors = builder.binary(Opcode::UDiv, rounded, wide.constant(u64::from(lanes)));
        let vectors = builder.multiply(width, vectors);
        let along_y = builder.multiply(vectors, wide.constant(percent));
        let along_x = builder.multiply(height, wide.constant(100));
        let is_less = builder.compare(IntPredicate::Ult, along_y, along_x);
        let narrow = builder.and(narrow, is_less);
        if self.high { builder.binary(Opcode::Or, high, narrow) } else { narrow }
    }

    /// The same for blocks whose size is known.
    fn is_for(self, lanes: u32, [width, height, _]: [u32; 3]) -> bool {
        let is_narrow = |percent: u64| {
            let vectors = u64::from(width) * u64::from(height.div_ceil(lanes));
            width < lanes && vectors * percent < 100 * u64::from(height)
        };
        (self.high && height >= lanes) || self.narrow.is_some_and(is_narrow)
    }
}

/// The blocks for which vectors along y, of the plan `other`, are better than those of `plan` along x.
pub(in crate::cpu::vectorize) fn along_y<'c>(
    other: &Plan<'c>,
    plan: &Plan<'c>,
    shape: BlockShape,
    size: &dyn Fn(Type<'c>) -> u64,
) -> AlongY {
    let of_memory = |plan: &Plan<'c>| cost(plan, &|it| of_access(plan, it, SCATTERED, size));
    let of_all =
        |plan: &Plan<'c>| cost(plan, &|it| of_access(plan, it, GATHERED, size) + of_other(it));
    // Values that cross barriers go through memory of threads that follow each other along x.
    let high = plan.regions.len() == 1 && 2 * of_memory(other) < of_memory(plan);
    let fits = code_size::instructions(plan.function) <= code_size::NARROW;
    // At least 100: vectors along y are only taken where they are fewer.
    let percent = (100 * of_all(other) / of_all(plan).max(1)).max(100);
    // With one thread along x there are as many vectors along x as a vector along y has lanes.
    let pays = percent < 100 * u64::from(plan.lanes);
    let along_y = AlongY { high, narrow: (fits && pays).then_some(percent) };
    match shape {
        BlockShape::Exact(block) if !along_y.is_for(plan.lanes, block) => AlongY::NEVER,
        _ => along_y,
    }
}

/// What the instructions of a vector's threads cost, `of` saying what one does.
fn cost<'c>(plan: &Plan<'c>, of: &dyn Fn(Value<'c>) -> u64) -> u64 {
    let of_block = |(node, block): (usize, &kernelmill_llvm::ir::Block<'c>)| {
        if plan.flow.panics[node] {
            return 0;
        }
        let depth = plan.loops.iter().filter(|it| it.nodes.binary_search(&node).is_ok()).count();
        let times = ITERATIONS.pow(DEPTH.min(depth as u32));
        times * block.instructions().into_iter().map(of).sum::<u64>()
    };
    plan.flow.blocks.iter().enumerate().map(of_block).sum()
}

/// What an access costs, `scattered` one whose lanes are all over memory; 0 for what is no access.
fn of_access<'c>(
    plan: &Plan<'c>,
    access: Value<'c>,
    scattered: u64,
    size: &dyn Fn(Type<'c>) -> u64,
) -> u64 {
    let (pointer, ty) = match access.opcode() {
        Opcode::Load => (access.operand(0), access.ty()),
        Opcode::Store => (access.operand(1), access.operand(0).ty()),
        Opcode::AtomicRmw | Opcode::AtomicCmpXchg => return scattered,
        _ => return 0,
    };
    match plan.shapes.shape(pointer) {
        // What all lanes store to is stored to once for each of them.
        Shape::Strided(0) if access.opcode() == Opcode::Store => scattered,
        Shape::Strided(0) => TOGETHER,
        Shape::Strided(step) if step == size(ty) as i64 => TOGETHER,
        Shape::Strided(_) | Shape::Varying => scattered,
    }
}

/// What any other instruction costs.
fn of_other(instruction: Value<'_>) -> u64 {
    match instruction.opcode() {
        Opcode::Load | Opcode::Store | Opcode::AtomicRmw | Opcode::AtomicCmpXchg => 0,
        _ if is_free(instruction) => 0,
        _ => OTHER,
    }
}
