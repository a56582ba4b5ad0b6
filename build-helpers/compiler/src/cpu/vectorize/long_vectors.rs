//! Vectors of four times as many threads, for kernels that compute little for each: what scalar code computes of affine values,
//! or asks of the position of a vector, is computed for four vectors at once. As
//! [unrolling](https://llvm.org/docs/Vectorizers.html) by LLVM's vectorizer, but that what the vectors have in common is not
//! computed again.
//!
//! Needs: a body without barriers, panics and stack memory, that computes little, and whose threads all go the same way. Where
//! it has no affine values it accesses memory in rows, and has no loops; where it has some, and no loops, some threads may read
//! memory that others do not. Guarantees: the same results. Where anything is not affine, or the threads differ in a condition
//! on their position, the four vectors run one after the other, before which nothing has been changed that others can see.

use kernelmill_llvm::ir::{
    Block, Builder, Linkage, ModuleExt, Opcode, Place, Type, TypeKind, Value,
};

use super::{
    Request,
    analysis::{legality, plan::Plan},
    emission::{code::BodyKind, function::build},
    layout::vector_value::Vectors,
    runner::LongVectors,
};
use crate::cpu::{
    block_entry::count,
    instructions::{changes_memory, is_dropped},
    uniformity::Shape,
};

/// The vectors that become one.
const VECTORS: u32 = 4;
/// The threads of a vector from which on there are longer ones.
const LEAST: u32 = 8;
/// The results at most that differ from lane to lane and are neither affine nor read from memory: each takes four registers.
const VARYING: usize = 8;
/// The blocks at most that not all threads come to.
const APART: usize = 4;
/// The words of 32 bits at most that the results of a thread take which differ from lane to lane, what is read among them, in a
/// body without affine values. Each takes four registers, and few are needed at a time.
const WORDS: u64 = 16;

impl<'c> Request<'_, '_, 'c> {
    /// Builds the body of long vectors for a plan, whose unmasked body is given.
    pub(super) fn long_vectors(&self, unmasked: Value<'c>) -> Option<LongVectors<'c>> {
        let own = self.plan;
        if own.lanes < LEAST || own.axis != 0 || own.regions.len() != 1 {
            return None;
        }
        let lanes = own.lanes * VECTORS;
        let plan = Plan::new(own.function, lanes, self.size, (0, self.place.0)).ok()?;
        let mut plan = plan.speculated(self.size, self.place).unwrap_or(plan);
        legality::check(&plan, self.size).ok()?;
        if !is_worth_it(&plan, self.size) {
            return None;
        }
        plan.is_long = true;
        let apart = self.apart(unmasked, lanes);
        if plan.affine.values.is_empty() {
            // Few vectors are at a border, and code for each of the four would take time to compile.
            apart.add_attribute(self.unit.context, Place::Function, "optsize", 0);
        }
        let kind = BodyKind::Unmasked { masked: Some(apart) };
        match build(self.unit, &plan, self.arrays, self.size, 0, kind) {
            Ok(function) => Some(LongVectors { function, apart, lanes }),
            Err(_) => {
                apart.delete_function();
                None
            }
        }
    }

    /// The function that runs the vectors one after the other. It takes a mask, in which all lanes are.
    fn apart(&self, unmasked: Value<'c>, lanes: u32) -> Value<'c> {
        let (context, own) = (self.unit.context, self.plan.function.parameters());
        let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
        let mut types = unmasked.value_type().parameters();
        types.push(Vectors { context, lanes }.mask());
        let name = format!("{}.vectors{VECTORS}", unmasked.name());
        let function = self.unit.module.new_function(&name, word.function(&types));
        function.set_linkage(Linkage::Internal);
        for name in ["noinline", "nounwind"] {
            function.add_attribute(context, Place::Function, name, 0);
        }
        let builder = Builder::new(context);
        builder.at_end(Block::append(context, function, "start"));
        let next = builder.alloca(word);
        let mut values = function.parameters();
        values.pop();
        let thread = own.iter().position(|it| *it == self.place.0).expect("it is a parameter");
        // The last parameter but for the mask is the number of the vector's first thread.
        let at = values.len() - 1;
        let first = [values[thread], values[at]];
        count(context, &builder, word.constant(u64::from(lanes)), self.plan.lanes, |moved| {
            values[thread] = builder.add(first[0], moved);
            values[at] = builder.add(first[1], builder.zero_extend(moved, wide));
            builder.store(builder.call(unmasked, &values), next);
        });
        builder.ret(Some(builder.load(word, next)));
        function
    }
}

/// Whether the time of a body goes into what its vectors have in common, and nothing in it keeps them apart.
fn is_worth_it<'c>(plan: &Plan<'c>, size: &dyn Fn(Type<'c>) -> u64) -> bool {
    let all = plan.function.instructions();
    let is_other = |it: &Value<'_>| {
        let is_effect = changes_memory(*it) && it.opcode() != Opcode::Store;
        let is_call = it.opcode() == Opcode::Call && is_dropped(*it);
        it.opcode() == Opcode::Alloca || (is_effect && !is_call)
    };
    let is_together =
        only_reads_apart(plan) && !plan.flow.panics.contains(&true) && !all.iter().any(is_other);
    is_together
        && match plan.affine.values.is_empty() {
            true => is_short(plan, &all, size),
            false => is_of_affine_values(plan, &all),
        }
}

/// Whether all threads go the same way, or those that do not only read memory meanwhile, of a body with affine values.
fn only_reads_apart(plan: &Plan<'_>) -> bool {
    if plan.shapes.divergent.is_empty() {
        return true;
    }
    let all = vec![true; plan.flow.blocks.len()];
    let Ok(regions) = plan.divergent_regions(&all) else { return false };
    let is_read = |it: Value<'_>| match it.opcode() {
        Opcode::Load => !it.is_exact_access(),
        Opcode::Br | Opcode::CondBr => true,
        _ => !changes_memory(it) && it.opcode() != Opcode::Store,
    };
    let apart: Vec<_> = regions
        .iter()
        .flat_map(|region| region.blocks.iter().copied().filter(|block| *block != region.root))
        .collect();
    let is_read = |block: &usize| plan.flow.blocks[*block].instructions().into_iter().all(is_read);
    plan.loops.is_empty()
        && !plan.affine.values.is_empty()
        && apart.len() <= APART
        && apart.iter().all(is_read)
}

/// Whether the time of a body goes into affine values.
fn is_of_affine_values<'c>(plan: &Plan<'c>, all: &[Value<'c>]) -> bool {
    let varies = |it: &&Value<'_>| {
        plan.shapes.shape(**it) == Shape::Varying
            && !plan.affine.values.contains(*it)
            && !matches!(it.opcode(), Opcode::Load | Opcode::Store | Opcode::Br | Opcode::CondBr)
    };
    all.iter().filter(varies).count() <= VARYING
}

/// Whether a body reads and writes rows of memory, and does so little with them that the questions about a vector's position
/// and the addresses of its rows take as long.
fn is_short<'c>(plan: &Plan<'c>, all: &[Value<'c>], size: &dyn Fn(Type<'c>) -> u64) -> bool {
    let is_row =
        |address: Value<'c>, bytes: u64| plan.shapes.shape(address) == Shape::Strided(bytes as i64);
    let is_in_rows = |it: &Value<'c>| match it.opcode() {
        Opcode::Load if plan.shapes.shape(it.operand(0)).is_uniform() => !it.is_exact_access(),
        Opcode::Load => is_row(it.operand(0), size(it.ty())) && !it.is_exact_access(),
        Opcode::Store => is_row(it.operand(1), size(it.operand(0).ty())) && !it.is_exact_access(),
        _ => true,
    };
    let words = |it: &Value<'c>| match it.ty().kind() {
        TypeKind::Void => 0,
        _ if plan.shapes.shape(*it) != Shape::Varying => 0,
        _ => size(it.ty()).div_ceil(4),
    };
    let is_written = |it: &Value<'c>| it.opcode() == Opcode::Store;
    plan.loops.is_empty()
        && all.iter().any(is_written)
        && all.iter().all(is_in_rows)
        && all.iter().map(words).sum::<u64>() <= WORDS
}
