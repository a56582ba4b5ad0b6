//! Single iterations: a copy of a kernel without its grid-stride loops, for blocks of which no thread takes a second iteration.
//! [Loop versioning](https://llvm.org/docs/Vectorizers.html#runtime-checks-of-pointers) for a trip count of one, as launches of at
//! least as many threads as there are elements have it
//! ([monolithic kernels](https://developer.nvidia.com/blog/cuda-pro-tip-write-flexible-kernels-grid-stride-loops/)).
//!
//! Needs: a lowered body without barriers, before its loops are interchanged. Guarantees: the same results. Threads leave a
//! grid-stride loop in different iterations as far as is known before the launch, so that its body is run under a mask, and
//! nothing in it is asked once for a vector. In the copy control leaves the loop after its first iteration. The block's function
//! asks whether that is so for the block, from the first and the last thread of a row, and runs the copy then.

use std::collections::HashMap;

use kernelmill_llvm::{
    ir::{Block, Builder, Linkage, ModuleExt, Opcode, Place, Type, Value},
    machine::Machine,
};

use super::{
    affine::Of,
    search::{Search, SingleIteration},
};
use crate::{
    Error,
    cpu::{
        body::Body,
        code_size,
        context::{Source, is_barrier},
        specialization::end_at_panics,
    },
    ir::copy_function,
    passes::entry::Unit,
};

/// Folds the branches that end the loops, and what only they have used.
const FOLD: &str = "simplifycfg,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,lower-switch,\
    loop-simplify,lcssa";

/// The instructions of a kernel at most: in longer ones the masks of a loop take little of the time, and the copy takes long to
/// compile.
const INSTRUCTIONS: usize = 150;

/// A kernel without its grid-stride loops.
pub(in crate::cpu) struct SingleIterations<'c> {
    pub(in crate::cpu) body: Body<'c>,
    /// The function that says whether a block is one for it. It takes the parameters of the body, and asks for no thread.
    pub(in crate::cpu) holds: Value<'c>,
    /// How many loops it lacks.
    pub(in crate::cpu) loops: u64,
}

impl<'c> SingleIterations<'c> {
    /// Copies a body without its grid-stride loops, where it has such.
    pub(in crate::cpu) fn new(
        unit: &Unit<'_, 'c>,
        machine: &Machine,
        body: &Body<'c>,
    ) -> Result<Option<Self>, Error> {
        let Source::Parameters { thread, grid, .. } = body.source else { return Ok(None) };
        let is_wanted = code_size::instructions(body.function) <= INSTRUCTIONS
            && grid[0].is_used()
            && !thread[1..].iter().any(|it| it.is_used())
            && !body.function.calls().into_iter().any(is_barrier);
        if !is_wanted {
            return Ok(None);
        }
        let size = |ty: Type<'c>| machine.size_of(ty);
        let search = Search::new(body.function, thread, &size);
        let found = search.single_iterations(grid[0]);
        if found.is_empty() {
            return Ok(None);
        }
        let holds = condition(unit, body, &found);
        let name = format!("{}.single", body.function.name());
        let copy = copy_function(unit.context, unit.module, body.function, &name);
        let bit = Type::int(unit.context, 1);
        for SingleIteration { latch, again, .. } in &found {
            let place = body.function.blocks().iter().position(|it| it == latch);
            let latch = copy.blocks()[place.expect("it is the body's")];
            let end = latch.terminator().expect("it was read");
            end.set_operand(0, bit.constant(u64::from(!again.holds)));
        }
        machine.run_on_function(copy, FOLD)?;
        compute_addresses_early(unit, copy);
        machine.run_on_function(copy, "early-cse")?;
        end_at_panics(unit, copy);
        let loops = found.len() as u64;
        Ok(Some(Self { body: body.with_function(copy), holds, loops }))
    }
}

/// Computes addresses before branches on which only some threads go that use them: they are the same in all threads but for a
/// step there, and LLVM computes those anew that are used behind the branch too.
fn compute_addresses_early<'c>(unit: &Unit<'_, 'c>, function: Value<'c>) {
    let builder = Builder::new(unit.context);
    let blocks = function.blocks();
    for block in &blocks {
        let mut before = blocks.iter().filter(|it| it.successors().contains(block));
        let (Some(only), None) = (before.next(), before.next()) else { continue };
        if only == block {
            continue;
        }
        for value in block.instructions() {
            let is_address =
                matches!(value.opcode(), Opcode::SExt | Opcode::ZExt | Opcode::GetElementPtr);
            if is_address
                && !value.operands().iter().any(|it| it.is_instruction() && it.block() == *block)
            {
                builder.before(only.terminator().expect("it goes on"));
                builder.move_here(value);
            }
        }
    }
}

/// The function that says of a block whether no thread takes a second iteration of any of the loops.
fn condition<'c>(
    unit: &Unit<'_, 'c>,
    body: &Body<'c>,
    found: &[SingleIteration<'_, 'c>],
) -> Value<'c> {
    let context = unit.context;
    let Source::Parameters { thread, dims, .. } = body.source else {
        unreachable!("asked before it was searched")
    };
    let (bit, word) = (Type::int(context, 1), Type::int(context, 32));
    let old = body.function.parameters();
    let ty = bit.function(&body.function.value_type().parameters());
    let holds = unit.module.new_function(&format!("{}.is_single", body.function.name()), ty);
    holds.set_linkage(Linkage::Internal);
    for name in ["alwaysinline", "nounwind"] {
        holds.add_attribute(context, Place::Function, name, 0);
    }
    let builder = Builder::new(context);
    builder.at_end(Block::append(context, holds, "start"));
    let parameters: HashMap<_, _> = old.iter().copied().zip(holds.parameters()).collect();
    let last = builder.binary(Opcode::Sub, parameters[&dims[0]], word.constant(1));
    let at_hand = |_| None;
    let all = found.iter().map(|found| {
        let ends = [word.constant(0), last].map(|number| {
            let mut known = parameters.clone();
            known.insert(thread[0], number);
            let mut end = Of { known, at_hand: &at_hand };
            for induction in &found.inductions {
                let start = end.value(&builder, induction.start);
                end.known.insert(induction.phi, start);
            }
            end
        });
        found.affine.in_none(&builder, found.again, [&ends[0], &ends[1]], last)
    });
    let all = all.collect::<Vec<_>>().into_iter().reduce(|all, one| builder.and(all, one));
    builder.ret(Some(builder.freeze(all.expect("there are some"))));
    holds
}
